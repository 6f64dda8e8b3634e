// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package secretstore

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/topologyjob/secret"
)

func input(seed byte) secret.Input {
	c := &v1alpha1.ValkeyCluster{}
	c.Name, c.Namespace = "cache", "shop"
	c.Default()
	return secret.Input{Cluster: c, Random: rand.NewChaCha8([32]byte{seed})}
}

func lines(writes []Write) []string {
	var out []string
	for _, w := range writes {
		out = append(out, w.String())
	}
	return out
}

func read(t testing.TB, c client.Client) map[string]*corev1.Secret {
	t.Helper()
	live, err := Read(t.Context(), c, "shop", []string{"cache-auth", "cache-system", "cache-acl"})
	if err != nil {
		t.Fatal(err)
	}
	return live
}

func TestWritesOnceAndOnlyWhatIsMissing(t *testing.T) {
	c := fake.NewFakeClient()
	dry, err := Converge(t.Context(), c, input(1), true)
	if err != nil || len(dry) != 3 || len(read(t, c)) != 0 {
		t.Fatalf("a dry run: %v, %v, %d Secrets", lines(dry), err, len(read(t, c)))
	}
	first, err := Converge(t.Context(), c, input(1), false)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"Secret cache-auth created: password",
		"Secret cache-system created: _exporter.current, _operator.current, _replication.current, _sentinel.current, exporter.json",
		"Secret cache-acl created: 8.0.acl, 8.1.acl, 9.0.acl, 9.1.acl",
	}
	if diff := cmp.Diff(want, lines(first)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	before := read(t, c)
	if again, err := Converge(t.Context(), c, input(2), false); err != nil || len(again) > 0 {
		t.Errorf("a second run: %v, %v", lines(again), err)
	}
	if diff := cmp.Diff(before, read(t, c)); diff != "" {
		t.Error(diff)
	}
	lacking := before["cache-acl"].DeepCopy()
	delete(lacking.Data, "9.1.acl")
	if err := c.Update(t.Context(), lacking); err != nil {
		t.Fatal(err)
	}
	if third, err := Converge(t.Context(), c, input(3), false); err != nil || strings.Join(lines(third), "; ") != "Secret cache-acl updated: 9.1.acl" {
		t.Errorf("%v, %v", lines(third), err)
	}
}

// TestWritersAtOnceAgree: several start together, none replaces what another has made.
func TestWritersAtOnceAgree(t *testing.T) {
	for round := range byte(20) {
		var mu sync.Mutex
		passwords := map[string]map[string]bool{}
		note := func(s *corev1.Secret) {
			for key, value := range s.Data {
				if strings.HasSuffix(key, ".acl") {
					continue
				}
				if passwords[key] == nil {
					passwords[key] = map[string]bool{}
				}
				passwords[key][string(value)] = true
			}
		}
		c := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
			Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
				mu.Lock()
				defer mu.Unlock()
				err := c.Create(ctx, o, opts...)
				if err == nil {
					note(o.(*corev1.Secret))
				}
				return err
			},
		}).Build()
		const writers = 3
		var group sync.WaitGroup
		errs := make([]error, writers)
		for i := range writers {
			group.Go(func() { _, errs[i] = Converge(t.Context(), c, input(round*writers+byte(i)), false) })
		}
		group.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		for key, values := range passwords {
			if len(values) != 1 {
				t.Errorf("%s had %d values", key, len(values))
			}
		}
		if again, err := Converge(t.Context(), c, input(0), false); err != nil || len(again) > 0 {
			t.Errorf("not final: %v, %v", lines(again), err)
		}
	}
}

func TestARaceThatIsLostEveryTimeSaysSo(t *testing.T) {
	conflict := apierrors.NewAlreadyExists(schema.GroupResource{Resource: "secrets"}, "cache-auth")
	tries := 0
	c := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error {
			tries++
			return conflict
		},
	}).Build()
	_, err := Converge(t.Context(), c, input(1), false)
	if _, ok := errors.AsType[*RaceError](err); !ok || tries != attempts || !errors.Is(err, conflict) {
		t.Errorf("%d tries, %v", tries, err)
	}
}

// TestARefusalEndsIt, with what was written before it.
func TestARefusalEndsIt(t *testing.T) {
	for _, verb := range []string{"read", "create", "update"} {
		refused := apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "cache-system", errors.New("no"))
		armed := false
		refuse := func(o client.Object, v string) error {
			if armed && v == verb && o.GetName() == "cache-system" {
				return refused
			}
			return nil
		}
		c := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
				o.SetName(key.Name)
				if err := refuse(o, "read"); err != nil {
					return err
				}
				return c.Get(ctx, key, o, opts...)
			},
			Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
				if err := refuse(o, "create"); err != nil {
					return err
				}
				return c.Create(ctx, o, opts...)
			},
			Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
				if err := refuse(o, "update"); err != nil {
					return err
				}
				return c.Update(ctx, o, opts...)
			},
		}).Build()
		want := 1
		if verb == "update" {
			if _, err := Converge(t.Context(), c, input(1), false); err != nil {
				t.Fatal(err)
			}
			system := read(t, c)["cache-system"]
			delete(system.Data, "_sentinel.current")
			if err := c.Update(t.Context(), system); err != nil {
				t.Fatal(err)
			}
			want = 0
		}
		if verb == "read" {
			want = 0
		}
		armed = true
		writes, err := Converge(t.Context(), c, input(1), false)
		if !errors.Is(err, refused) || len(writes) != want || !strings.HasPrefix(err.Error(), "Secret/shop/cache-system "+verb+" failed: ") {
			t.Errorf("%s: %v, %v", verb, lines(writes), err)
		}
	}
}
