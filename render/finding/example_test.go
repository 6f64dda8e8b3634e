// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package finding_test

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/valkey-render/valkey-render/render/finding"
)

func found() finding.List {
	origin := finding.Origin{File: "cache.yaml", Document: 1, Object: "ValkeyCluster/shop/cache"}
	return finding.FromFieldErrors(origin, field.ErrorList{
		finding.WithCode(field.Forbidden(field.NewPath("spec", "config").Key("port"), "use spec.networking.port"), finding.ReservedDirective),
		field.Invalid(field.NewPath("spec", "shards"), 0, "must be at least 1"),
	})
}

func ExampleList_Text() {
	fmt.Printf("%s", found().Text())
	// Output:
	// cache.yaml: error VR0203 ValkeyCluster/shop/cache spec.config[port]: use spec.networking.port (document 1)
	// cache.yaml: error VR0112 ValkeyCluster/shop/cache spec.shards: must be at least 1 (got 0) (document 1)
}

// A SARIF log has one result for each finding, and a rule for each code.
func ExampleList_SARIF() {
	data, err := found().SARIF("1.0.0")
	if err != nil {
		fmt.Println(err)
		return
	}
	var log struct {
		Version string
		Runs    []struct {
			Results []struct {
				RuleID  string
				Message struct{ Text string }
			}
		}
	}
	if err := json.Unmarshal(data, &log); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("SARIF", log.Version)
	for _, r := range log.Runs[0].Results {
		fmt.Println(r.RuleID, r.Message.Text)
	}
	// Output:
	// SARIF 2.1.0
	// VR0203 ValkeyCluster/shop/cache spec.config[port]: use spec.networking.port
	// VR0112 ValkeyCluster/shop/cache spec.shards: must be at least 1 (got 0)
}
