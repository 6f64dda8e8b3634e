// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package setting

import (
	"errors"
	"strings"
)

// splitLine splits a line as directive.Words writes it: bare words, and words in double
// quotes with a backslash before a quote or a backslash.
func splitLine(line string) ([]string, error) {
	var words []string
	for rest := trimSpace(line); rest != ""; {
		word, after, err := nextWord(rest)
		if err != nil {
			return nil, err
		}
		words = append(words, word)
		rest = trimSpace(after)
	}
	return words, nil
}

func trimSpace(text string) string { return strings.Trim(text, " \t\r\n") }

// nextWord takes the first word off a text that begins with one.
func nextWord(text string) (word, after string, err error) {
	if text[0] != '"' {
		end := strings.IndexAny(text, " \t\r\n")
		if end < 0 {
			end = len(text)
		}
		if strings.IndexByte(text[:end], '"') >= 0 {
			return "", "", errors.New("a quote is within a word")
		}
		return text[:end], text[end:], nil
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			i++
			b.WriteByte(text[i])
		case c == '"':
			after := text[i+1:]
			if after != "" && strings.IndexByte(" \t\r\n", after[0]) < 0 {
				return "", "", errors.New("text follows a closing quote")
			}
			return b.String(), after, nil
		default:
			b.WriteByte(c)
		}
	}
	return "", "", errors.New("a quote is not closed")
}
