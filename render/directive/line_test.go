// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package directive

import (
	"strings"
	"testing"
)

func TestValuesAreQuotedWhereALineNeedsIt(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"maxmemory", "100mb", "maxmemory 100mb"},
		{"MaxMemory", "100mb", "maxmemory 100mb"},
		{"include", "/valkey/run/live.conf", "include /valkey/run/live.conf"},
		{"include", "/a b/c", `include "/a b/c"`},
		{"syslog-ident", "", `syslog-ident ""`},
		{"syslog-ident", `a"b\c'd #e`, `syslog-ident "a\"b\\c'd #e"`},
		{"syslog-ident", "é", `syslog-ident "é"`},
		{"save", "", `save ""`},
		{"save", "3600 1\n300 100", "save 3600 1\nsave 300 100"},
		{"client-output-buffer-limit", "normal 0 0 0\npubsub 1mb 1mb 1", "client-output-buffer-limit normal 0 0 0\nclient-output-buffer-limit pubsub 1mb 1mb 1"},
		{"shutdown-on-sigint", "nosave now", "shutdown-on-sigint nosave now"},
		{"bind", "* -::*", "bind * -::*"},
		{"slaveof", "10.0.0.1 6379", "slaveof 10.0.0.1 6379"},
		{"nosuch", "a b", `nosuch "a b"`},
	} {
		if got, err := Line(c.name, c.value); err != nil || got != c.want {
			t.Errorf("Line(%q, %q) = %q, %v; want %q", c.name, c.value, got, err, c.want)
		}
	}
	for _, c := range [][2]string{
		{"maxmemory", "1\nport 1"},
		{"maxmemory", "1\r"},
		{"syslog-ident", "\x00"},
		{"syslog-ident", "\xff"},
		{"syslog-ident", "\u0085"},
		{"syslog-ident", "\u2028"},
		{"a b", "x"},
		{"", "x"},
		{"hz 1\nport", "x"},
		{"#", "x"},
	} {
		if got, err := Line(c[0], c[1]); err == nil {
			t.Errorf("Line(%q, %q) = %q", c[0], c[1], got)
		}
	}
}

func TestWordsAreQuotedOneByOne(t *testing.T) {
	got, err := Words("loadmodule", "/valkey/modules/a.so", "arg one", "")
	if want := `loadmodule /valkey/modules/a.so "arg one" ""`; err != nil || got != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

// split reads a line of a config file as the server does, for the tests: words
// between white space, double quotes with escapes, single quotes.
func split(line string) (words []string, ok bool) {
	line = strings.Trim(line, " \t\r\n")
	for i := 0; i < len(line); {
		if strings.ContainsRune(" \n\r\t\x00", rune(line[i])) {
			i++
			continue
		}
		var word []byte
		quoted := line[i] == '"'
		if line[i] == '\'' {
			return nil, false
		}
		if quoted {
			i++
		}
		for closed := false; !closed; i++ {
			switch {
			case i == len(line):
				if quoted {
					return nil, false
				}
				closed = true
			case quoted && line[i] == '"':
				closed = true
			case quoted && line[i] == '\\' && i+1 < len(line):
				i++
				if !strings.ContainsRune(`"\`, rune(line[i])) {
					return nil, false
				}
				word = append(word, line[i])
			case !quoted && strings.ContainsRune(" \n\r\t\x00", rune(line[i])):
				closed = true
			case !quoted && (line[i] == '"' || line[i] == '\''):
				return nil, false
			default:
				word = append(word, line[i])
			}
		}
		words = append(words, string(word))
	}
	return words, true
}

func seeds(f *testing.F) {
	for _, value := range []string{
		"", "a", "a b", `a"b`, `\`, `"`, `'`, "a\nport 1", "a\x00b", "#", "é", `\x41`, `a\n`, `" "port" "1`, "3600 1\n60 2", "\t", " a ",
	} {
		f.Add("syslog-ident", value)
		f.Add("save", value)
		f.Add("client-output-buffer-limit", "normal 0 0 0\n"+value)
	}
	f.Add("x\nport", "1")
}

func FuzzLine(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, name, value string) {
		text, err := Line(name, value)
		if err != nil {
			return
		}
		lines := strings.Split(text, "\n")
		if len(lines) != 1 && !newest(name).Repeatable {
			t.Fatalf("%q became %d lines: %q", value, len(lines), text)
		}
		for i, line := range lines {
			words, ok := split(line)
			if !ok || len(words) < 2 || words[0] != strings.ToLower(name) {
				t.Fatalf("%q became %q", value, text)
			}
			want := strings.Split(value, "\n")[i]
			if manyWords(newest(name)) {
				if got := strings.Join(words[1:], " "); got != strings.Join(strings.Fields(want), " ") {
					t.Fatalf("%q became %q", value, text)
				}
			} else if len(lines) != 1 || len(words) != 2 || words[1] != value {
				t.Fatalf("%q became %q", value, text)
			}
		}
	})
}

func FuzzCheck(f *testing.F) {
	for _, d := range All("9.1") {
		f.Add("9.1", d.Name, d.Default)
		f.Add("8.0", d.Name, "1 x\n2\x00")
	}
	f.Fuzz(func(t *testing.T, version, name, value string) {
		canonicalName, canonicalValue, err := Canonical(version, name, value)
		if Check(version, name, value) == nil && err != nil {
			t.Fatalf("Check accepts what Canonical refuses: %v", err)
		}
		if err != nil {
			return
		}
		_, again, err := Canonical(version, canonicalName, canonicalValue)
		if err != nil || again != canonicalValue {
			t.Fatalf("%s: canonical %q becomes %q, %v", name, canonicalValue, again, err)
		}
		if _, err := Line(name, value); err != nil {
			t.Fatalf("no line for an accepted value: %v", err)
		}
	})
}
