// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package metric_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/valkey-render/valkey-render/topologyjob/metric"
)

// described collects what is registered.
type described struct {
	prometheus.Registerer
	texts []string
}

func (d *described) Register(c prometheus.Collector) error {
	descriptions := make(chan *prometheus.Desc, 100)
	c.Describe(descriptions)
	close(descriptions)
	for one := range descriptions {
		d.texts = append(d.texts, one.String())
	}
	return nil
}

// TestWhatIsRegisteredIsDefined: by name, help and labels.
func TestWhatIsRegisteredIsDefined(t *testing.T) {
	defined := map[string]metric.Definition{}
	for _, d := range metric.Definitions() {
		if _, twice := defined[metric.Prefix+d.Name]; twice || d.Help == "" || d.Type == "" {
			t.Errorf("%+v", d)
		}
		if counts := strings.HasSuffix(d.Name, "_total"); counts != (d.Type == "counter") {
			t.Errorf("%s is a %s", d.Name, d.Type)
		}
		defined[metric.Prefix+d.Name] = d
	}
	registered := &described{}
	if err := metric.New("v1").Register(registered); err != nil {
		t.Fatal(err)
	}
	form := regexp.MustCompile(`fqName: "([^"]*)", help: "([^"]*)", .*variableLabels: \{([^}]*)\}`)
	if len(registered.texts) == 0 {
		t.Fatal("nothing is registered")
	}
	for _, text := range registered.texts {
		m := form.FindStringSubmatch(text)
		if m == nil {
			t.Fatal(text)
		}
		d, ok := defined[m[1]]
		if !ok {
			t.Errorf("%s is not defined", m[1])
			continue
		}
		if diff := cmp.Diff([]string{d.Help, strings.Join(d.Labels, ",")}, m[2:]); diff != "" {
			t.Errorf("%s (-defined +registered)\n%s", m[1], diff)
		}
	}
}
