// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// root is the repository: go test runs in the directory of the package.
const root = "../.."

// page is one Markdown file, as far as the tests read it.
type page struct {
	Path     string // slash-separated, from the root of the repository
	Sections []section
	Fences   []fence
	Links    []link
}

// section is a heading with the lines up to the next one of any level.
type section struct {
	Level  int
	Title  string
	Anchor string
	Line   int
	Lines  []string // without fenced blocks
	Fences []fence
	Above  string // the nearest heading of level 2 above, or itself
}

// fence is a fenced block.
type fence struct {
	Language string
	Comment  string // the HTML comment in the line above, without <!-- -->
	Text     string
	Line     int
}

// link is the target of a Markdown link.
type link struct {
	Target string
	Line   int
}

var (
	headingForm = regexp.MustCompile(`^(#{1,6}) (.+)$`)
	linkForm    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	commentForm = regexp.MustCompile(`^<!-- (.*) -->$`)
)

// read parses one page.
func read(t *testing.T, path string) page {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	p := page{Path: path, Sections: []section{{}}}
	anchors := map[string]int{}
	var open *fence
	var above, before string
	for i, line := range strings.Split(string(data), "\n") {
		last := &p.Sections[len(p.Sections)-1]
		switch {
		case open != nil && strings.TrimSpace(line) == "```":
			last.Fences = append(last.Fences, *open)
			p.Fences = append(p.Fences, *open)
			open = nil
		case open != nil:
			open.Text += line + "\n"
		case strings.HasPrefix(strings.TrimSpace(line), "```"):
			open = &fence{Language: strings.TrimPrefix(strings.TrimSpace(line), "```"), Line: i + 1}
			if m := commentForm.FindStringSubmatch(before); m != nil {
				open.Comment = m[1]
			}
		default:
			for _, m := range linkForm.FindAllStringSubmatch(line, -1) {
				p.Links = append(p.Links, link{m[1], i + 1})
			}
			m := headingForm.FindStringSubmatch(line)
			if m == nil {
				last.Lines = append(last.Lines, line)
				break
			}
			if len(m[1]) <= 2 {
				above = m[2]
			}
			p.Sections = append(p.Sections, section{
				Level: len(m[1]), Title: m[2], Anchor: anchor(m[2], anchors), Line: i + 1, Above: above,
			})
		}
		before = line
	}
	if open != nil {
		t.Fatalf("%s:%d: fenced block without an end", path, open.Line)
	}
	return p
}

// anchor is what GitHub makes of a heading.
func anchor(title string, seen map[string]int) string {
	var b strings.Builder
	for _, r := range strings.ToLower(linkForm.ReplaceAllString(title, "]")) {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_':
			b.WriteRune(r)
		case r == ' ':
			b.WriteByte('-')
		}
	}
	name := b.String()
	n := seen[name]
	seen[name]++
	if n > 0 {
		return name + "-" + string(rune('0'+n))
	}
	return name
}

// pages are all Markdown files of docs/ and of the root.
func pages(t *testing.T) map[string]page {
	t.Helper()
	all := map[string]page{}
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(name) != ".md" {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err == nil {
			all[filepath.ToSlash(rel)] = read(t, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	tops, err := filepath.Glob(filepath.Join(root, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range tops {
		all[filepath.Base(name)] = read(t, filepath.Base(name))
	}
	return all
}

// rows are the cells of the tables in a section, header and ruler left out.
func (s section) rows() [][]string {
	var out [][]string
	ruled := false
	for _, line := range s.Lines {
		if !strings.HasPrefix(line, "|") {
			ruled = false
			continue
		}
		if strings.Trim(line, "|-: ") == "" {
			ruled = true
			continue
		}
		if !ruled {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		out = append(out, cells)
	}
	return out
}

// code is the text of a cell or heading that is one code span, else empty.
func code(text string) string {
	if len(text) > 2 && strings.HasPrefix(text, "`") && strings.HasSuffix(text, "`") && strings.Count(text, "`") == 2 {
		return text[1 : len(text)-1]
	}
	return ""
}

// trim leaves the lines of a text without those that are empty.
func trim(lines []string) []string {
	var out []string
	for _, line := range lines {
		if len(bytes.TrimSpace([]byte(line))) > 0 {
			out = append(out, line)
		}
	}
	return out
}
