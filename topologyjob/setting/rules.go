// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package setting

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// rules are what ACL SETUSER makes of words after `reset`.
type rules struct {
	login     Login
	root      permissions
	selectors []permissions
}

// permissions are the part of rules that a selector may have too.
type permissions struct {
	keys, channels, databases []string
	// base is +@all or -@all, which all before it is void by; commands come after it.
	base     string
	commands []string
	// others are words of no known kind.
	others []string
}

func parseRules(words []string) rules {
	r := rules{root: newPermissions()}
	for i := 0; i < len(words); i++ {
		word := words[i]
		if strings.HasPrefix(word, "(") {
			end := i
			for end < len(words)-1 && !strings.HasSuffix(words[end], ")") {
				end++
			}
			text := strings.TrimSuffix(strings.TrimPrefix(strings.Join(words[i:end+1], " "), "("), ")")
			selector := newPermissions()
			for _, inner := range strings.Fields(text) {
				selector.add(inner)
			}
			r.selectors = append(r.selectors, selector)
			i = end
			continue
		}
		if !r.about(word) {
			r.root.add(word)
		}
	}
	slices.Sort(r.login.Hashes)
	r.login.Hashes = slices.Compact(r.login.Hashes)
	return r
}

// about takes over a word that is about the user as a whole.
func (r *rules) about(word string) bool {
	switch lower := strings.ToLower(word); lower {
	case "on", "off":
		r.login.On = lower == "on"
		return true
	case "nopass":
		// The server forgets the passwords then.
		r.login.Nopass, r.login.Hashes = true, nil
		return true
	case "resetpass":
		r.login.Nopass, r.login.Hashes = false, nil
		return true
	case "sanitize-payload": // the default, which 8.x prints
		return true
	case "clearselectors":
		r.selectors = nil
		return true
	case "reset":
		*r = rules{root: newPermissions()}
		return true
	}
	if word == "" {
		return false
	}
	switch word[0] {
	case '#':
		r.login.Nopass, r.login.Hashes = false, append(r.login.Hashes, word[1:])
	case '>':
		sum := sha256.Sum256([]byte(word[1:]))
		r.login.Nopass, r.login.Hashes = false, append(r.login.Hashes, hex.EncodeToString(sum[:]))
	default:
		return false
	}
	return true
}

func newPermissions() permissions { return permissions{base: "-@all"} }

// add takes over a rule.
func (p *permissions) add(word string) {
	switch lower := strings.ToLower(word); lower {
	case "allkeys", "~*":
		p.keys = []string{"~*"}
	case "resetkeys":
		p.keys = nil
	case "allchannels", "&*":
		p.channels = []string{"&*"}
	case "resetchannels":
		p.channels = nil
	case "alldbs":
		p.databases = nil
	case "allcommands", "+@all":
		p.base, p.commands = "+@all", nil
	case "nocommands", "-@all":
		p.base, p.commands = "-@all", nil
	default:
		if !p.addPattern(word) {
			p.others = append(p.others, word)
		}
	}
}

// addPattern takes over a rule that has a name in it; false when it is of no known kind.
func (p *permissions) addPattern(word string) bool {
	switch {
	case word == "":
		return false
	case word[0] == '~':
		p.key(word[1:], true, true)
	case word[0] == '%':
		access, pattern, found := strings.Cut(word[1:], "~")
		access = strings.ToUpper(access)
		if !found || strings.Trim(access, "RW") != "" {
			return false
		}
		p.key(pattern, strings.Contains(access, "R"), strings.Contains(access, "W"))
	case word[0] == '&':
		if !slices.Contains(p.channels, "&*") && !slices.Contains(p.channels, word) {
			p.channels = append(p.channels, word)
		}
	case word[0] == '+' || word[0] == '-':
		p.command(strings.ToLower(word))
	case strings.HasPrefix(strings.ToLower(word), "db="):
		p.databases = []string{strings.ToLower(word)}
	default:
		return false
	}
	return true
}

// key adds a pattern; a server puts reading and writing of one together.
func (p *permissions) key(pattern string, read, write bool) {
	if slices.Contains(p.keys, "~*") {
		return
	}
	for i, have := range p.keys {
		at := strings.IndexByte(have, '~')
		if have[at+1:] == pattern {
			access := have[:at]
			read, write = read || access != "%W", write || access != "%R"
			p.keys[i] = accessTo(read, write) + pattern
			return
		}
	}
	p.keys = append(p.keys, accessTo(read, write)+pattern)
}

func accessTo(read, write bool) string {
	switch {
	case read && write:
		return "~"
	case read:
		return "%R~"
	}
	return "%W~"
}

// command adds a rule, in place of earlier ones of the same command, or of its
// subcommands when it is about the whole.
func (p *permissions) command(rule string) {
	what := rule[1:]
	p.commands = append(slices.DeleteFunc(p.commands, func(earlier string) bool {
		return earlier[1:] == what || strings.HasPrefix(earlier[1:], what+"|")
	}), rule)
}

func (p *permissions) String() string {
	words := slices.Concat(p.keys, []string{"resetchannels"}, p.channels, p.databases, []string{p.base}, p.commands, p.others)
	return strings.Join(words, " ")
}

// String is the rules in an order of their own.
func (r rules) String() string {
	words := []string{"off"}
	if r.login.On {
		words[0] = "on"
	}
	if r.login.Nopass {
		words = append(words, "nopass")
	}
	for _, hash := range r.login.Hashes {
		words = append(words, "#"+hash)
	}
	words = append(words, r.root.String())
	for _, s := range r.selectors {
		words = append(words, "("+s.String()+")")
	}
	return strings.Join(words, " ")
}
