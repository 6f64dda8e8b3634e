// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package argument

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// Pods reads --pod flags. Pods without a port of their own get the one given; domain,
// when there is one, completes the name that a certificate is checked for.
func Pods(flags []string, port int, domain string) ([]survey.Pod, error) {
	var (
		pods     []survey.Pod
		problems []error
	)
	seen := map[string]bool{}
	for _, flag := range flags {
		pod, err := Pod(flag, port)
		if err == nil && seen[pod.Name] {
			err = errors.New("the pod is there twice")
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("--pod %q: %w", flag, err))
			continue
		}
		seen[pod.Name] = true
		if domain != "" {
			pod.ServerName = pod.Name + "." + domain
		}
		pods = append(pods, pod)
	}
	return pods, errors.Join(problems...)
}

// Pod reads one --pod flag: NAME=HOST, and port, uid, runs, node and zone after commas. A
// pod that does not run may have no host.
func Pod(flag string, port int) (survey.Pod, error) { return place(flag, port, ordinals) }

// place reads a flag whose name has the ordinals that are read by a function.
func place(flag string, port int, ordinals func(name string) (shard, index int32, err error)) (survey.Pod, error) {
	place, rest, _ := strings.Cut(flag, ",")
	name, host, found := strings.Cut(place, "=")
	if !found {
		return survey.Pod{}, errors.New("not NAME=HOST")
	}
	pod := survey.Pod{Name: name, Host: host, Port: port}
	var err error
	if pod.Shard, pod.Index, err = ordinals(name); err != nil {
		return survey.Pod{}, err
	}
	if err := pairs(rest, &pod); err != nil {
		return survey.Pod{}, err
	}
	// Who knows that a pod does not run may know no address of it.
	if host == "" && pod.Runs != survey.Stopped {
		return survey.Pod{}, errors.New("not NAME=HOST, which only a pod with runs=Stopped may lack")
	}
	return pod, nil
}

// pairs reads what follows the host.
func pairs(rest string, pod *survey.Pod) error {
	if rest == "" {
		return nil
	}
	for part := range strings.SplitSeq(rest, ",") {
		key, value, _ := strings.Cut(part, "=")
		switch key {
		case "port":
			n, err := strconv.ParseUint(value, 10, 16)
			if err != nil || n == 0 {
				return fmt.Errorf("port %q: must be 1 to 65535", value)
			}
			pod.Port = int(n)
		case "uid":
			pod.UID = value
		case "runs":
			pod.Runs = survey.Runs(value)
			if pod.Runs != survey.Running && pod.Runs != survey.Stopped {
				return fmt.Errorf("runs %q: must be %s or %s", value, survey.Running, survey.Stopped)
			}
		case "node":
			pod.Node = value
		case "zone":
			pod.Zone = value
		default:
			return fmt.Errorf("%q: must be port, uid, runs, node or zone", key)
		}
	}
	return nil
}

// ordinals are the shard and the index at the end of a pod's name.
func ordinals(name string) (shard, index int32, err error) {
	parts := strings.Split(name, "-")
	if len(parts) < 3 {
		return 0, 0, fmt.Errorf("name %q does not end with -SHARD-INDEX", name)
	}
	var numbers [2]int32
	for i, part := range parts[len(parts)-2:] {
		n, err := strconv.ParseInt(part, 10, 32)
		if err != nil || n < 0 {
			return 0, 0, fmt.Errorf("name %q does not end with -SHARD-INDEX", name)
		}
		numbers[i] = int32(n)
	}
	return numbers[0], numbers[1], nil
}
