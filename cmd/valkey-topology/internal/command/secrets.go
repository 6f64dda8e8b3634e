// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/topologyjob/outcome"
	"github.com/valkey-render/valkey-render/topologyjob/secret"
	"github.com/valkey-render/valkey-render/topologyjob/secretstore"
)

// secretsPoll is how often a missing Secret is looked for.
const secretsPoll = 2 * time.Second

// podNamespace is the variable with the namespace of the pod this runs in.
const podNamespace = "POD_NAMESPACE"

// secrets makes the Secrets of a cluster. With a deadline it waits for what may come
// by itself: a Secret that the spec refers to, a server that does not answer, a
// RoleBinding that the server does not know yet.
func secrets(ctx context.Context, r *runner) (done, error) {
	config, namespace, err := r.connection.Load(r.sys.Getenv, r.sys.Files.ReadFile)
	if err != nil {
		return done{}, &verdict{outcome.BadInput, "NoConnection", err}
	}
	c, acls, err := r.specs.read(r.sys.Files, cmp.Or(r.sys.Getenv(podNamespace), namespace))
	if err != nil {
		return done{}, err
	}
	api, err := secretsClient(config, program+"/"+r.version)
	if err != nil {
		return done{}, err
	}
	in := secret.Input{Cluster: c, ACLs: acls, Random: r.sys.Random}
	var writes []secretstore.Write
	for {
		more, err := secretstore.Converge(ctx, api, in, r.dryRun)
		writes = append(writes, more...)
		for _, w := range more {
			fmt.Fprintln(r.sys.Err, w)
		}
		if err == nil {
			return summary(writes), nil
		}
		err = judgeSecrets(err)
		if v, ok := errors.AsType[*verdict](err); r.deadline == 0 || ok && !passing(v) {
			return summary(writes), err
		}
		r.waiting(err)
		if !r.pause(ctx, secretsPoll) {
			return summary(writes), err
		}
	}
}

// secretsClient knows one kind, so that it needs to ask the server for none.
func secretsClient(config *rest.Config, agent string) (client.Client, error) {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Secret"), meta.RESTScopeNamespace)
	config = rest.CopyConfig(config)
	config.UserAgent = agent
	// Without a logger of its own, the client complains of it on standard error.
	silent := funcr.New(func(string, string) {}, funcr.Options{})
	c, err := client.New(config, client.Options{Scheme: scheme, Mapper: mapper, Log: silent})
	if err != nil {
		return nil, fmt.Errorf("server %s: %w", config.Host, err)
	}
	return c, nil
}

// judgeSecrets says what an error of the Secrets means. What is none of these may
// pass, like a server that does not answer.
func judgeSecrets(err error) error {
	if blocked, ok := errors.AsType[*secret.BlockedError](err); ok {
		return &verdict{outcome.Blocked, string(blocked.Problems[0].Reason), err}
	}
	if _, ok := errors.AsType[*secretstore.RaceError](err); ok {
		return &verdict{outcome.Raced, "Raced", err}
	}
	if _, ok := errors.AsType[*secret.UsersError](err); ok {
		return &verdict{outcome.BadInput, "UsersInvalid", err}
	}
	return err
}

// passing reports whether what ended a run may pass by itself.
func passing(v *verdict) bool {
	blocked, ok := errors.AsType[*secret.BlockedError](v)
	return v.result == outcome.Raced || ok && blocked.Passing()
}

func summary(writes []secretstore.Write) done {
	d := done{message: "nothing to do", counts: map[string]int64{"created": 0, "updated": 0}}
	var said []string
	for _, w := range writes {
		verb := "updated"
		if w.Created {
			verb = "created"
		}
		d.counts[verb]++
		said = append(said, w.Name+" "+verb)
	}
	if len(said) > 0 {
		d.message = strings.Join(said, ", ")
	}
	return d
}
