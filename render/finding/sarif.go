// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"net/url"
	"strings"
)

// The parts of SARIF 2.1.0 (OASIS) that are written.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string      `json:"id"`
		ShortDescription sarifText   `json:"shortDescription"`
		Help             sarifText   `json:"help"`
		HelpURI          string      `json:"helpUri"`
		Configuration    sarifConfig `json:"defaultConfiguration"`
	}
	sarifConfig struct {
		Level string `json:"level"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations,omitempty"`
	}
	sarifLocation struct {
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn,omitempty"`
	}
	sarifLogical struct {
		FullyQualifiedName string `json:"fullyQualifiedName"`
		Kind               string `json:"kind"`
	}
)

const (
	informationURI = "https://github.com/valkey-render/valkey-render"
	// HelpURI is the page of all codes; a code in lower case is its anchor.
	HelpURI = informationURI + "/blob/main/docs/findings.md"
)

// SARIF returns the findings as one run of a SARIF 2.1.0 log, sorted, with a
// rule for each code that occurs. version is the program's; it may be empty.
func (l List) SARIF(version string) ([]byte, error) {
	run := sarifRun{
		Tool: sarifTool{sarifDriver{
			Name: "valkey-render", Version: version, InformationURI: informationURI, Rules: []sarifRule{},
		}},
		ColumnKind: "unicodeCodePoints",
		Results:    []sarifResult{},
	}
	indexes := map[Code]int{}
	for _, f := range l.Sorted() {
		index, ok := indexes[f.Code]
		if !ok {
			index = len(run.Tool.Driver.Rules)
			indexes[f.Code] = index
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, rule(f))
		}
		run.Results = append(run.Results, sarifResult{
			RuleID: string(f.Code), RuleIndex: index, Level: string(f.Severity),
			Message: sarifText{f.about()}, Locations: locations(f),
		})
	}
	return encode(sarifLog{
		Schema:  "https://json.schemastore.org/sarif-2.1.0.json",
		Version: "2.1.0",
		Runs:    []sarifRun{run},
	})
}

func rule(f Finding) sarifRule {
	info, ok := Lookup(f.Code)
	if !ok {
		info = Info{Code: f.Code, Severity: f.Severity, Title: string(f.Code), Help: string(f.Code)}
	}
	return sarifRule{
		ID:               string(f.Code),
		ShortDescription: sarifText{info.Title},
		Help:             sarifText{info.Help},
		HelpURI:          HelpURI + "#" + strings.ToLower(string(f.Code)),
		Configuration:    sarifConfig{string(info.Severity)},
	}
}

func locations(f Finding) []sarifLocation {
	var where sarifLocation
	if f.File != "" {
		where.Physical = &sarifPhysical{Artifact: sarifArtifact{fileURI(f.File)}}
		if f.Line > 0 {
			where.Physical.Region = &sarifRegion{StartLine: f.Line, StartColumn: f.Column}
		}
	}
	if f.Object != "" {
		name := f.Object
		if f.Path != "" {
			name += "/" + f.Path
		}
		where.Logical = []sarifLogical{{FullyQualifiedName: oneLine(name), Kind: "object"}}
	}
	if where.Physical == nil && where.Logical == nil {
		return nil
	}
	return []sarifLocation{where}
}

// fileURI is a relative reference for a relative path, as code scanning wants.
func fileURI(file string) string {
	u := url.URL{Path: strings.ReplaceAll(file, `\`, "/")}
	return u.String()
}
