// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-logr/logr/funcr"
	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render"
	"github.com/valkey-render/valkey-render/render/apply"
	"github.com/valkey-render/valkey-render/render/load"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
)

// deliver are the flags of kind apply.
type deliver struct{ owner string }

func (d *deliver) addTo(cmd *cobra.Command) {
	cmd.Flags().StringVar(&d.owner, "owner", "", "`UID` of the ValkeyCluster that owns what is applied: claims are left to themselves, all else goes with it (kind apply)")
}

// applies renders the spec and applies everything but the ValkeyCluster and its ValkeyACLs,
// which are somebody's own.
func applies(ctx context.Context, r *runner) (done, error) {
	config, namespace, err := r.connection.Load(r.sys.Getenv, r.sys.Files.ReadFile)
	if err != nil {
		return done{}, &verdict{outcome.BadInput, "NoConnection", err}
	}
	c, objects, err := r.rendered(cmp.Or(r.specs.namespace, namespace))
	if err != nil {
		return done{}, err
	}
	api, err := anyClient(config, program+"/"+r.version)
	if err != nil {
		return done{}, err
	}
	if err := r.deliver.check(ctx, api, c); err != nil {
		return done{}, err
	}
	clusters, err := apply.Group(r.deliver.owned(c, objects))
	if err != nil {
		return done{}, &verdict{outcome.BadInput, "InputInvalid", err}
	}
	owner := r.deliver.reference(c)
	applier := apply.New(api, apply.Options{Owner: &owner, OnChange: func(change apply.Change) {
		if change.Action != apply.Unchanged {
			fmt.Fprintln(r.sys.Err, change)
		}
	}})
	plan, err := applier.Plan(ctx, clusters)
	if err != nil {
		return delivered(plan.Refused()), refused(err)
	}
	if r.dryRun {
		return delivered(plan.Results()), nil
	}
	results, err := plan.Run(ctx)
	return delivered(results), refused(err)
}

// rendered renders the one cluster of the files.
func (r *runner) rendered(fallback string) (*v1alpha1.ValkeyCluster, []*unstructured.Unstructured, error) {
	bad := func(err error) error { return &verdict{outcome.BadInput, "InputInvalid", err} }
	var sources []load.Source
	for _, f := range r.specs.files {
		data, err := r.sys.Files.ReadFile(f)
		if err != nil {
			return nil, nil, bad(err)
		}
		sources = append(sources, load.Source{Name: f, Data: data})
	}
	set, findings := load.Parse(sources, load.Options{Namespace: r.specs.namespace})
	for _, c := range set.Clusters {
		c.Object.Namespace = cmp.Or(c.Object.Namespace, fallback)
	}
	for _, a := range set.ACLs {
		a.Object.Namespace = cmp.Or(a.Object.Namespace, fallback)
	}
	if err := findings.Err(); err != nil {
		return nil, nil, bad(err)
	}
	if len(set.Clusters) != 1 {
		return nil, nil, bad(fmt.Errorf("%d ValkeyClusters in what was given, must be one", len(set.Clusters)))
	}
	result := render.Build(set, render.Options{})
	if err := result.Findings.Err(); err != nil {
		return nil, nil, bad(err)
	}
	return set.Clusters[0].Object, result.Objects, nil
}

// check refuses to apply for a cluster that is another by now.
func (d *deliver) check(ctx context.Context, api client.Client, c *v1alpha1.ValkeyCluster) error {
	if d.owner == "" {
		return &verdict{outcome.BadInput, "InputInvalid", errors.New("--owner: name the UID of the ValkeyCluster")}
	}
	live := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion().String(), Kind: v1alpha1.KindCluster}}
	err := api.Get(ctx, client.ObjectKeyFromObject(c), live)
	if err == nil && string(live.UID) == d.owner && live.DeletionTimestamp == nil {
		return nil
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	return &verdict{outcome.Blocked, "OwnerGone", fmt.Errorf("ValkeyCluster/%s/%s with UID %s is there no more", c.Namespace, c.Name, d.owner)}
}

// reference is to the ValkeyCluster.
func (d *deliver) reference(c *v1alpha1.ValkeyCluster) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: v1alpha1.GroupVersion().String(), Kind: v1alpha1.KindCluster, Name: c.Name, UID: types.UID(d.owner)}
}

// owned are the objects to apply, with their owner.
func (d *deliver) owned(c *v1alpha1.ValkeyCluster, objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	var list []*unstructured.Unstructured
	for _, o := range objects {
		switch o.GetKind() {
		case v1alpha1.KindCluster, v1alpha1.KindACL:
			continue
		case "PersistentVolumeClaim":
			// Data outlives the cluster.
		default:
			o.SetOwnerReferences([]metav1.OwnerReference{d.reference(c)})
		}
		list = append(list, o)
	}
	return list
}

// anyClient knows the kinds that the server has.
func anyClient(config *rest.Config, agent string) (client.Client, error) {
	config = rest.CopyConfig(config)
	config.UserAgent, config.QPS, config.Burst = agent, 50, 100
	config.WarningHandler = rest.NoWarnings{}
	c, err := client.New(config, client.Options{Log: funcr.New(func(string, string) {}, funcr.Options{})})
	if err != nil {
		return nil, fmt.Errorf("server %s: %w", config.Host, err)
	}
	return c, nil
}

// delivered sums up what was applied.
func delivered(results []apply.Result) done {
	d := done{counts: map[string]int64{}}
	var parts []string
	counts := apply.Count(results)
	for _, action := range []apply.Action{apply.Created, apply.Configured, apply.Unchanged, apply.Deleted, apply.Kept, apply.Held, apply.Failed} {
		if n := counts[action]; n > 0 {
			d.counts[string(action)] = int64(n)
			parts = append(parts, fmt.Sprintf("%d %s", n, action))
		}
	}
	for _, result := range results {
		for _, change := range result.Changes {
			if change.Action == apply.Created || change.Action == apply.Configured {
				d.counts[string(change.Action)+"."+change.Kind]++
			}
		}
	}
	d.message = cmp.Or(strings.Join(parts, ", "), "nothing to do")
	return d
}

// refused is how a refusal ends: who started the Job starts another.
func refused(err error) error {
	if err == nil {
		return nil
	}
	return &verdict{outcome.Failed, "ApplyFailed", err}
}
