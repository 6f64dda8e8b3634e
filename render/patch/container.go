// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"path"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// container is one of ours, before and after.
type container struct {
	*refusals
	obj     *unstructured.Unstructured
	name    string
	was, is map[string]any
}

func (c *container) refuse(what, why string) {
	c.add(what+" of container "+c.name+" of", c.obj, why)
}

// compare notes everything that the container of ours stands and falls with.
func (c *container) compare() {
	c.whole("it is how the container is started and stopped", "command", "args", "workingDir", "restartPolicy", "restartPolicyRules")
	if c.name == v1alpha1.ContainerServer {
		c.whole("it is how the container is started and stopped", "lifecycle")
	}
	image, resources := c.fieldsOfTheSpec()
	c.whole("use "+image, "image")
	if resources != "" {
		c.whole("use "+resources+": maxmemory follows it", "resources")
	}
	for _, probe := range []string{"startupProbe", "livenessProbe", "readinessProbe"} {
		if was, given := c.was[probe].(map[string]any); given && !sameHandler(was, c.is[probe]) {
			c.refuse("changes the handler of "+probe, "times and thresholds may be changed")
		}
	}
	const added = "entries may be added, not changed or removed"
	if !superset(items(c.was["ports"]), items(c.is["ports"])) {
		c.refuse("changes ports", added)
	}
	c.environment(added)
	c.mounts(added)
}

// whole compares fields that may not be changed at all.
func (c *container) whole(why string, fields ...string) {
	for _, f := range fields {
		if !reflect.DeepEqual(c.was[f], c.is[f]) {
			c.refuse("changes "+f, why)
		}
	}
}

// fieldsOfTheSpec are the fields that set the image, and the resources where they
// are no matter of taste.
func (c *container) fieldsOfTheSpec() (image, resources string) {
	switch {
	case c.name == v1alpha1.ContainerExporter:
		return "spec.metrics.image", ""
	case c.name != v1alpha1.ContainerServer:
		return "spec.modules", ""
	case c.obj.GetLabels()[name.LabelComponent] == name.ComponentSentinel:
		return "spec.sentinel.image", "spec.sentinel.resources"
	}
	return "spec.image", "spec.resources"
}

func sameHandler(was map[string]any, is any) bool {
	now, _ := is.(map[string]any)
	for _, handler := range []string{"exec", "httpGet", "tcpSocket", "grpc"} {
		if !reflect.DeepEqual(was[handler], now[handler]) {
			return false
		}
	}
	return true
}

// environment holds that our variables come in their order, since $(NAME) is
// expanded from what is above it, and that no other one is read by the scripts.
func (c *container) environment(why string) {
	was, is := items(c.was["env"]), items(c.is["env"])
	if !inOrder(was, is) {
		c.refuse("changes env", why)
	}
	given := named(was)
	for _, item := range is {
		variable := entry(item, "name")
		if _, known := given[variable]; !known && ownVariable(c.name, variable) {
			c.refuse("adds variable "+variable, "variables of that name are read by valkey-render's own programs")
		}
	}
	for _, source := range items(c.is["envFrom"]) {
		if contains(items(c.was["envFrom"]), source) {
			continue
		}
		if prefix := entry(source, "prefix"); !apart(c.name, prefix) {
			c.refuse("changes envFrom", "it could set variables of valkey-render's own programs; give it a prefix of its own")
		}
	}
}

// ownPrefixes begin the names of variables that the programs of a container read.
func ownPrefixes(container string) []string {
	if container == v1alpha1.ContainerExporter {
		return []string{"REDIS_"}
	}
	return []string{"VALKEY_", "POD_", "VALKEYCLI_AUTH", "REDISCLI_AUTH"}
}

func ownVariable(container, variable string) bool {
	for _, own := range ownPrefixes(container) {
		if strings.HasPrefix(variable, own) {
			return true
		}
	}
	return false
}

// apart says whether no name with the prefix can be one of ours.
func apart(container, prefix string) bool {
	for _, own := range ownPrefixes(container) {
		if strings.HasPrefix(own, prefix) {
			return false
		}
	}
	return !ownVariable(container, prefix)
}

// mounts holds that nothing lies over our directories.
func (c *container) mounts(why string) {
	was := items(c.was["volumeMounts"])
	if !superset(was, items(c.is["volumeMounts"])) {
		c.refuse("changes volumeMounts", why)
	}
	places := map[string]bool{}
	for _, mount := range items(c.is["volumeMounts"]) {
		places[entry(mount, "mountPath")] = true
	}
	for _, mount := range was {
		delete(places, entry(mount, "mountPath"))
	}
	for _, device := range items(c.is["volumeDevices"]) {
		places[entry(device, "devicePath")] = true
	}
	// The kubelet mounts a file there.
	if !reflect.DeepEqual(c.was["terminationMessagePath"], c.is["terminationMessagePath"]) {
		places[entry(c.is, "terminationMessagePath")] = true
	}
	delete(places, "")
	for _, place := range sorted(places) {
		if ours := shadows(c.name, place); ours != "" {
			c.add("mounts "+place+" in container "+c.name+" of", c.obj, "it would hide what is in "+ours)
		}
	}
}

// shadows returns the directory of ours that a path in a container equals, holds or
// lies in; empty when it is apart from them. Only the server has data.
func shadows(container, place string) string {
	ours := []string{"/valkey", "/data", "/tmp"}
	if container != v1alpha1.ContainerServer {
		ours = ours[:1]
	}
	place = path.Clean("/" + place)
	for _, dir := range ours {
		if place == "/" || place == dir || strings.HasPrefix(place, dir+"/") {
			return dir
		}
	}
	return ""
}
