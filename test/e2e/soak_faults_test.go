// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

//go:build cluster

package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/render/name"
)

// fault is something that goes wrong, some time after a round has begun.
type fault struct {
	name  string
	after time.Duration
	lasts time.Duration // 0 for what is over at once
	do    func(context.Context) error
}

func (f fault) String() string {
	text := f.name + " after " + f.after.String()
	if f.lasts > 0 {
		text += " for " + f.lasts.String()
	}
	return text
}

// faults draws one or two; while something is asked for at least one hits who does it: the
// reconciler, its Jobs, or the API server.
func (s *soak) faults(random *rand.Rand, asked bool) []fault {
	var all []fault
	data := []func(*rand.Rand, time.Duration) fault{s.podDeleted, s.podDeleted, s.processKilled, s.processKilled, s.nodeStopped, s.nodeCutOff}
	control := []func(*rand.Rand, time.Duration) fault{s.reconcilerKilled, s.reconcilerKilled, s.jobKilled, s.apiServerKilled, s.apiServerAway, s.apiServerFrozen}
	draw := func(from []func(*rand.Rand, time.Duration) fault) {
		after := time.Duration(random.IntN(12_000)) * time.Millisecond
		all = append(all, from[random.IntN(len(from))](random, after))
	}
	if asked {
		draw(control)
		if random.IntN(2) == 0 {
			draw(append(data, control...))
		}
	} else {
		draw(append(data, control...))
		if random.IntN(3) == 0 {
			draw(data)
		}
	}
	// One node at a time: with two of three away there is nobody to recover.
	if len(all) == 2 && strings.HasPrefix(all[0].name, "node") && strings.HasPrefix(all[1].name, "node") {
		all = all[:1]
	}
	for _, f := range all {
		s.counted(strings.Join(strings.Fields(f.name)[:2], " "))
	}
	return all
}

// lasting draws how long something lasts.
func lasting(random *rand.Rand, least, most int) time.Duration {
	return time.Duration(least+random.IntN(most-least)) * time.Second
}

// victim is a data pod of a cluster that random drew, when it is time.
func (s *soak) victim(ctx context.Context, cluster, draw int) (*subject, *corev1.Pod, error) {
	sub := s.subjects[cluster%len(s.subjects)]
	pods := sub.dataPods(ctx)
	if len(pods) == 0 {
		return nil, nil, fmt.Errorf("%s: it has no pods", sub.name)
	}
	return sub, &pods[draw%len(pods)], nil
}

// podDeleted deletes a pod by force.
func (s *soak) podDeleted(random *rand.Rand, after time.Duration) fault {
	cluster, draw := random.IntN(3)/2, random.IntN(1000)
	return fault{name: "pod deleted", after: after, do: func(ctx context.Context) error {
		sub, pod, err := s.victim(ctx, cluster, draw)
		if err != nil {
			return err
		}
		begun := time.Now()
		err = persistently(ctx, func(ctx context.Context) error {
			err := sub.api.Delete(ctx, pod, client.GracePeriodSeconds(0), client.Preconditions{UID: &pod.UID})
			if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
				return nil // it was replaced meanwhile
			}
			return err
		})
		s.died(sub.name+" pod "+pod.Name+" deleted", begun, *pod)
		return err
	}}
}

// processKilled ends the process of a server.
func (s *soak) processKilled(random *rand.Rand, after time.Duration) fault {
	cluster, draw := random.IntN(3)/2, random.IntN(1000)
	return fault{name: "process killed", after: after, do: func(ctx context.Context) error {
		// One that is about to start, or whose pod is new, is killed a moment later.
		return persistently(ctx, func(ctx context.Context) error {
			sub, pod, err := s.victim(ctx, cluster, draw)
			if err != nil {
				return err
			}
			begun := time.Now()
			if err = signalled(pod, server, syscall.SIGKILL); err == nil {
				s.died(sub.name+" process of "+pod.Name+" killed", begun, *pod)
			}
			return err
		})
	}}
}

// nodeStopped ends a node, and starts it again.
func (s *soak) nodeStopped(random *rand.Rand, after time.Duration) fault {
	return s.nodeAway("node stopped", "stop-node", after, lasting(random, 2, 45), random)
}

// nodeCutOff has a node reach nobody for some time.
func (s *soak) nodeCutOff(random *rand.Rand, after time.Duration) fault {
	return s.nodeAway("node cut off", "partition", after, lasting(random, 2, 60), random)
}

func (s *soak) nodeAway(called, command string, after, lasts time.Duration, random *rand.Rand) fault {
	node := firstWorker + random.IntN(workers-firstWorker+1)
	return fault{name: called + " " + strconv.Itoa(node), after: after, lasts: lasts, do: func(ctx context.Context) error {
		var on []corev1.Pod
		for _, sub := range s.subjects {
			for _, pod := range sub.dataPods(ctx) {
				if pod.Spec.NodeName == "node"+strconv.Itoa(node) {
					on = append(on, pod)
				}
			}
		}
		begun := time.Now()
		err := onNode(ctx, command, node)
		s.died(called+" "+strconv.Itoa(node), begun, on...)
		if err == nil {
			err = pause(ctx, lasts)
		}
		// It comes back whatever has become of the round.
		back, cancel := context.WithTimeout(context.WithoutCancel(ctx), recovery)
		defer cancel()
		for {
			healed := onNode(back, "heal", node)
			if healed == nil {
				return err
			}
			if pause(back, time.Second) != nil {
				return errors.Join(err, healed)
			}
		}
	}}
}

// onNode runs a command of localcluster about a node.
func onNode(ctx context.Context, command string, node int) error {
	out, err := exec.CommandContext(ctx, os.Getenv("LOCALCLUSTER"), "--source", "..", "--name", os.Getenv("LOCALCLUSTER_NAME"), command, strconv.Itoa(node)).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %d: %w: %s", command, node, err, out)
	}
	return nil
}

// reconcilerKilled deletes the pod of a reconciler by force, or ends its process.
func (s *soak) reconcilerKilled(random *rand.Rand, after time.Duration) fault {
	cluster, gentle := random.IntN(2), random.IntN(4) == 0
	return fault{name: "reconciler killed", after: after, do: func(ctx context.Context) error {
		sub := s.subjects[cluster]
		return persistently(ctx, func(ctx context.Context) error {
			pods, err := sub.labelled(ctx, name.ReconcilerSelector())
			if err != nil || len(pods) == 0 {
				return errors.Join(err, fmt.Errorf("%s: %d pods of the reconciler", sub.name, len(pods)))
			}
			if gentle {
				return signalled(&pods[0], reconcilerPod, syscall.SIGKILL)
			}
			return client.IgnoreNotFound(sub.api.Delete(ctx, &pods[0], client.GracePeriodSeconds(0)))
		})
	}}
}

// jobKilled deletes the pod of a Job that runs, by force, if one does within some time.
func (s *soak) jobKilled(random *rand.Rand, after time.Duration) fault {
	const soon = 20 * time.Second
	first := random.IntN(2)
	return fault{name: "Job killed", after: after, do: func(ctx context.Context) error {
		for end := time.Now().Add(soon); time.Now().Before(end); {
			for i := range s.subjects {
				sub := s.subjects[(first+i)%len(s.subjects)]
				pods, err := sub.labelled(ctx, map[string]string{name.LabelComponent: name.ComponentJob})
				for _, pod := range pods {
					if err == nil && pod.Status.Phase == corev1.PodRunning {
						err = sub.api.Delete(ctx, &pod, client.GracePeriodSeconds(0))
						s.Logf("%s   %s pod %s: %v", clock(), sub.name, pod.Name, err)
						return client.IgnoreNotFound(err)
					}
				}
			}
			if err := pause(ctx, 50*time.Millisecond); err != nil {
				return err
			}
		}
		s.Logf("%s   no Job has run", clock())
		return nil
	}}
}

func (s *subject) labelled(ctx context.Context, labels map[string]string) ([]corev1.Pod, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	var list corev1.PodList
	err := s.api.List(ctx, &list, client.InNamespace(s.namespace), client.MatchingLabels(labels))
	return list.Items, err
}

// apiServerKilled ends the API server, which is started again at once.
func (s *soak) apiServerKilled(_ *rand.Rand, after time.Duration) fault {
	return fault{name: "API server killed", after: after, do: func(ctx context.Context) error {
		return s.subjects[0].without(ctx, apiServer, 0)
	}}
}

// apiServerAway has nobody listen where the API server was, for some time.
func (s *soak) apiServerAway(random *rand.Rand, after time.Duration) fault {
	lasts := lasting(random, 2, 30)
	return fault{name: "API server away", after: after, lasts: lasts, do: func(ctx context.Context) error {
		return s.subjects[0].without(ctx, apiServer, lasts)
	}}
}

// apiServerFrozen has the API server answer nothing, for some time.
func (s *soak) apiServerFrozen(random *rand.Rand, after time.Duration) fault {
	lasts := lasting(random, 2, 30)
	return fault{name: "API server frozen", after: after, lasts: lasts, do: func(ctx context.Context) error {
		return s.subjects[0].frozen(ctx, apiServer, lasts)
	}}
}
