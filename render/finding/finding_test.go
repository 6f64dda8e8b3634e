// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package finding_test

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/valkey-render/valkey-render/internal/golden"
	"github.com/valkey-render/valkey-render/render/finding"
)

func TestRegistryIsSortedCompleteAndWellFormed(t *testing.T) {
	codes := finding.Codes()
	if len(codes) == 0 {
		t.Fatal("no codes")
	}
	shape := regexp.MustCompile(`^VR[0-9]{4}$`)
	var last finding.Code
	for _, info := range codes {
		if !shape.MatchString(string(info.Code)) || info.Code <= last {
			t.Errorf("%s after %s: out of order or malformed", info.Code, last)
		}
		last = info.Code
		if isWarning := info.Code[2] == '1'; isWarning != (info.Severity == finding.Warning) {
			t.Errorf("%s: severity %s does not follow its range", info.Code, info.Severity)
		}
		if info.Title == "" || !strings.HasSuffix(info.Help, ".") || strings.Count(info.Help, ". ") > 0 {
			t.Errorf("%s: title %q, help %q: want a title and one sentence", info.Code, info.Title, info.Help)
		}
		if got, ok := finding.Lookup(info.Code); !ok || got != info {
			t.Errorf("Lookup(%s) = %v, %v", info.Code, got, ok)
		}
	}
	if _, ok := finding.Lookup("VR9999"); ok {
		t.Error("Lookup(VR9999) found something")
	}
}

func sample() finding.List {
	at := func(code finding.Code, file string, document, line int, object, path, message string) finding.Finding {
		f := finding.New(code, message)
		f.File, f.Document, f.Line, f.Object, f.Path = file, document, line, object, path
		if line > 0 {
			f.Column = 5
		}
		return f
	}
	return finding.List{
		at(finding.UnknownDirective, "b.yaml", 1, 12, "ValkeyCluster/ns/name", "spec.config[maxmemory-polcy]",
			`unknown directive; did you mean "maxmemory-policy"?`),
		at(finding.NoMajority, "a b,c:d%.yaml", 2, 3, "ValkeyCluster/name", "spec.shards", "2 shards have no majority"),
		at(finding.Syntax, "a b,c:d%.yaml", 1, 9, "", "", "100% wrong:\nline\ttwo\u202e <&>"),
		at(finding.Unreadable, "c.yaml", 0, 0, "", "", "does not exist"),
		finding.New(finding.NothingFound, "nothing"),
		finding.New(finding.NothingFound, "nothing"),
		finding.New("VR9999", "unregistered"),
	}
}

func TestOutputForms(t *testing.T) {
	list := sample()
	first := list[0]
	golden.File(t, "testdata/text.txt", list.Text())
	golden.File(t, "testdata/github.txt", list.GitHub())
	asJSON, err := list.JSON()
	if err != nil {
		t.Fatal(err)
	}
	golden.File(t, "testdata/findings.json", asJSON)
	sarif, err := list.SARIF("1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	golden.File(t, "testdata/findings.sarif", sarif)
	if list[0] != first {
		t.Error("writing sorted the caller's list")
	}
	golden.Only(t, "testdata", "text.txt", "github.txt", "findings.json", "findings.sarif")
}

func TestEmptyListIsStillAnAnswer(t *testing.T) {
	var list finding.List
	if list.Err() != nil || list.HasErrors() || len(list.Text()) != 0 || len(list.GitHub()) != 0 {
		t.Error("an empty list says something")
	}
	asJSON, err := list.JSON()
	if err != nil || !strings.Contains(string(asJSON), `"findings": []`) {
		t.Errorf("JSON = %s, %v", asJSON, err)
	}
	sarif, err := list.SARIF("")
	if err != nil || !strings.Contains(string(sarif), `"results": []`) {
		t.Errorf("SARIF = %s, %v", sarif, err)
	}
}

func TestSARIFRuleIndexesPointAtTheirRules(t *testing.T) {
	raw, err := sample().SARIF("")
	if err != nil {
		t.Fatal(err)
	}
	var log struct {
		Runs []struct {
			Tool struct {
				Driver struct{ Rules []struct{ ID string } }
			}
			Results []struct {
				RuleID    string
				RuleIndex int
			}
		}
	}
	if err := json.Unmarshal(raw, &log); err != nil {
		t.Fatal(err)
	}
	for _, result := range log.Runs[0].Results {
		if got := log.Runs[0].Tool.Driver.Rules[result.RuleIndex].ID; got != result.RuleID {
			t.Errorf("result of %s points at rule %s", result.RuleID, got)
		}
	}
}

func TestErrHoldsEveryErrorAndNoWarning(t *testing.T) {
	err := sample().Err()
	if err == nil {
		t.Fatal("no error")
	}
	if text := err.Error(); strings.Contains(text, "majority") || strings.Count(text, "\n") != 4 {
		t.Errorf("Err() = %s", text)
	}
	if (finding.List{finding.New(finding.NoMajority, "x")}).Err() != nil {
		t.Error("a warning is an error")
	}
	if !sample().HasErrors() || len(sample().Warnings()) != 1 {
		t.Error("severities are mixed up")
	}
}

func TestFieldErrorsBecomeFindings(t *testing.T) {
	root := field.NewPath("spec")
	q := resource.MustParse("3Gi")
	for _, tc := range []struct {
		name string
		err  *field.Error
		want string
	}{
		{"required", field.Required(root.Child("storage"), "Durable needs storage."), "VR0110 Durable needs storage"},
		{"required without detail", field.Required(root.Child("storage"), ""), "VR0110 is required"},
		{"range", field.Invalid(root.Child("shards"), int32(0), "must be at least 1"), "VR0112 must be at least 1 (got 0)"},
		{"range by pointer", field.Invalid(root.Child("shards"), new(int32), "must be at least 1"), "VR0112 must be at least 1"},
		{"value in detail", field.Invalid(root.Child("image"), "x:y", `"x:y" is no image`), `VR0112 "x:y" is no image`},
		{"value in path", field.Invalid(root.Child("config").Key("save"), "save", "is odd"), "VR0112 is odd"},
		{"no detail", field.Invalid(root, nil, ""), "VR0112 is not valid"},
		{"quantity", field.Invalid(root.Child("size"), &q, "must grow"), `VR0112 must grow (got "3Gi")`},
		{"struct", field.Invalid(root, struct{ A []int }{}, "must be b"), "VR0112 must be b"},
		{"named string", field.Invalid(root, finding.Code("abc"), "must be b"), `VR0112 must be b (got "abc")`},
		{
			"long value", field.Invalid(root.Child("image"), strings.Repeat("é", 200), "is no image"),
			`VR0112 is no image (got "` + strings.Repeat("é", 80) + `…")`,
		},
		{
			"enum", field.NotSupported(root.Child("topology"), "Clutser", []string{"Cluster", "Sentinel"}),
			`VR0111 "Clutser" is not supported; did you mean "Cluster"?; supported values: "Cluster", "Sentinel"`,
		},
		{
			"enum far off", field.NotSupported(root.Child("topology"), "zzz", []string{"Cluster"}),
			`VR0111 "zzz" is not supported; supported values: "Cluster"`,
		},
		{
			"enum, secret", field.NotSupported(root.Child("password"), "hunter2", []string{"a"}),
			`VR0111 is not supported; supported values: "a"`,
		},
		{"duplicate", field.Duplicate(root.Child("users").Index(1).Child("name"), "ann"), `VR0114 "ann" is given twice`},
		{"duplicate, secret", field.Duplicate(root.Child("password"), "hunter2"), `VR0114 is given twice`},
		{"forbidden", field.Forbidden(root.Child("replicas"), ""), "VR0113 is not allowed here"},
		{"name", field.Invalid(field.NewPath("metadata", "name"), "A", "must be lower case"), `VR0401 must be lower case (got "A")`},
		{"no name", field.Required(field.NewPath("metadata", "name"), ""), "VR0110 is required"},
		{"too long", field.TooLong(root.Child("image"), "", 512), "VR0115 may not be more than 512 bytes"},
		{"too many", field.TooMany(root.Child("patches"), 65, 64), "VR0115 must have at most 64 items (got 65)"},
		{"not found", field.NotFound(root.Child("x"), "y"), `VR0112 is not valid (got "y")`},
		{"type", field.TypeInvalid(root.Child("x"), true, "must be text"), "VR0102 must be text (got true)"},
		{"internal", field.InternalError(root, errors.New("boom")), "VR0118 boom"},
		{"internal without cause", &field.Error{Type: field.ErrorTypeInternal}, "VR0118 could not be checked"},
		{"too short", &field.Error{Type: "FieldValueTooShort", Detail: "x"}, "VR0112 x"},

		{"own code", finding.WithCode(field.NotFound(root.Child("config").Key("polcy"), "polcy"), finding.UnknownDirective), "VR0201 is not valid"},
		{"own code, secret value", finding.WithCode(field.Invalid(root.Child("config").Key("primaryauth"), "hunter2", "is odd"), finding.DirectiveValue), "VR0202 is odd"},
		{"own code at a name", finding.WithCode(field.Duplicate(field.NewPath("metadata", "name"), "a"), finding.SameObject), `VR0402 "a" is given twice`},
		{"text of another code", field.Forbidden(root, "deletes what is not yet an unknown directive"), "VR0113 deletes what is not yet an unknown directive"},
		{"origin that is no code", field.Invalid(root, nil, "is odd").WithOrigin("format=dns-label"), "VR0112 is odd"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			origin := finding.Origin{File: "f", Document: 2, Object: "o", Position: func(path string) (int, int) {
				if path != tc.err.Field {
					t.Errorf("position of %q asked for, want %q", path, tc.err.Field)
				}
				return 7, 3
			}}
			list := finding.FromFieldErrors(origin, field.ErrorList{tc.err})
			if len(list) != 1 {
				t.Fatalf("%d findings", len(list))
			}
			f := list[0]
			if got := string(f.Code) + " " + f.Message; got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
			if f.File != "f" || f.Document != 2 || f.Object != "o" || f.Line != 7 || f.Column != 3 || f.Path != tc.err.Field {
				t.Errorf("place lost: %+v", f)
			}
			if strings.Contains(f.String(), "hunter2") {
				t.Errorf("secret shown: %s", f)
			}
		})
	}
}

func TestFindingWithoutPositions(t *testing.T) {
	f := finding.Origin{File: "f.yaml"}.Newf(finding.Required, "spec", "wants %d", 2)
	if got, want := f.String(), "f.yaml: error VR0110 spec: wants 2"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSecretPaths(t *testing.T) {
	for _, path := range []string{
		"spec.config[requirepass]", "spec.config[REQUIREPASS]", "spec.config[primaryauth]", "spec.config[masterauth]",
		"spec.config[tls-key-file-pass]", "spec.config[tls-client-key-file-pass]", "spec.config[user]",
		"spec.sentinel.config[auth-pass]", "spec.sentinel.config[sentinel-pass]",
		"spec.users[0].permissions", "spec.password", "password",
	} {
		if !finding.Secret(path) {
			t.Errorf("%s is not held for a secret", path)
		}
	}
	for _, path := range []string{
		"spec.config[maxmemory]", "spec.config[hz]", "spec.users[0].name", "spec.users[0].passwordSecret.name", "spec.auth.enabled",
		"spec.config[primaryuser]",
	} {
		if finding.Secret(path) {
			t.Errorf("%s is held for a secret", path)
		}
	}
}
