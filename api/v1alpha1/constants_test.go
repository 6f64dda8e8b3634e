// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"
)

// constants returns the string constants of a file by name, with the names of
// those that have no comment.
func constants(t *testing.T, file string) (values map[string]string, bare []string) {
	t.Helper()
	syntax, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	values = map[string]string{}
	ast.Inspect(syntax, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		name := spec.Names[0].Name
		if literal, ok := spec.Values[0].(*ast.BasicLit); ok {
			values[name], _ = strconv.Unquote(literal.Value)
		}
		if spec.Doc == nil {
			bare = append(bare, name)
		}
		return true
	})
	return values, bare
}

// TestConstantsAreCalledWhatTheyAre: tools and runbooks match on the values, so
// a constant is its own name, in the form that the API server asks of reasons.
func TestConstantsAreCalledWhatTheyAre(t *testing.T) {
	form := regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`)
	total := 0
	for file, prefix := range map[string]string{"conditions.go": "Condition", "reasons.go": "Reason", "events.go": "Event"} {
		values, bare := constants(t, file)
		if len(bare) > 0 {
			t.Errorf("%s: without a comment: %v", file, bare)
		}
		for name, value := range values {
			if !strings.HasPrefix(name, prefix) {
				continue
			}
			total++
			if name != prefix+value || !form.MatchString(value) {
				t.Errorf("%s: %s = %q", file, name, value)
			}
		}
	}
	if total < 120 {
		t.Errorf("%d constants, want the more than 120 of the documentation", total)
	}
}

func TestAnnotationsAreKeys(t *testing.T) {
	for _, key := range []string{
		AnnotationRestart, AnnotationRestartShard, AnnotationRotatePassword, AnnotationReshard, AnnotationFailover,
		AnnotationFailoverTarget, AnnotationQuorumTakeover, AnnotationRetry, AnnotationAcceptSlotLoss,
		AnnotationRenderHash, AnnotationSpecHash, AnnotationObjectsHash, AnnotationNamespaces, AnnotationShardSelector, AnnotationConfig, AnnotationSentinelConfig,
	} {
		if why := validation.IsQualifiedName(key); len(why) > 0 {
			t.Errorf("%s: %v", key, why)
		}
		if !strings.HasPrefix(key, Group+"/") {
			t.Errorf("%s is not of our group", key)
		}
	}
}
