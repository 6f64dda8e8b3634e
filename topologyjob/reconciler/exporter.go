// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// Exporters are told that their password is another. They read its file when they start, and
// when they are asked to.
type Exporters interface {
	// Reload asks the exporter at an address.
	Reload(ctx context.Context, address string) error
}

// HTTPExporters asks exporters by HTTP.
type HTTPExporters struct{ client *http.Client }

var _ Exporters = (*HTTPExporters)(nil)

// exporterTimeout is how long an exporter may take to answer.
const exporterTimeout = 2 * time.Second

// NewExporters makes Exporters that are asked by HTTP, each over a connection of its own.
func NewExporters() *HTTPExporters {
	return &HTTPExporters{&http.Client{Timeout: exporterTimeout, Transport: &http.Transport{DisableKeepAlives: true}}}
}

// Reload implements Exporters.
func (h *HTTPExporters) Reload(ctx context.Context, address string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/-/reload", http.NoBody)
	if err != nil {
		return err
	}
	answer, err := h.client.Do(request)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		err = errors.New(answer.Status)
	}
	return errors.Join(err, answer.Body.Close())
}

// reload has the exporters of all pods read their password again, as long as the previous
// one is valid: the files of a pod may be behind the Secret. One that cannot be told shows by
// its own metrics.
func (r *Reconciler) reload(ctx context.Context, g *gathered) {
	if r.Exporters == nil || !g.cluster.MetricsEnabled() {
		return
	}
	const parallel = 32
	turns := make(chan struct{}, parallel)
	var wg sync.WaitGroup
	for i := range g.seen.Pods {
		p := &g.seen.Pods[i]
		if p.Sentinel || p.IP == "" || p.Deleting {
			continue
		}
		turns <- struct{}{}
		wg.Go(func() {
			defer func() { <-turns }()
			if err := r.Exporters.Reload(ctx, net.JoinHostPort(p.IP, strconv.Itoa(v1alpha1.MetricsPort))); err != nil {
				log.FromContext(ctx).Info("exporter did not read its password again", "pod", p.Name, "error", fmt.Sprint(err))
			}
		})
	}
	wg.Wait()
}
