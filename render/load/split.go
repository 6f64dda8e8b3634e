// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// chunk is the text of one document.
type chunk struct {
	text []byte
	// offset is how many lines of the source come before it.
	offset int
	// number counts the documents of the source from 1.
	number int
}

// split cuts a source at its document markers. YAML allows `---` and `...` at
// the start of a line nowhere else, not even in a block scalar, so that it can
// be done before anything is parsed and one bad document hides no other. Text
// without content before the first marker is no document.
func split(data []byte) []chunk {
	var chunks []chunk
	number := 0
	start, startLine, marked := 0, 0, false
	flush := func(end int) {
		text := data[start:end]
		empty := blank(text)
		if marked || !empty {
			number++
		}
		if !empty {
			chunks = append(chunks, chunk{text: text, offset: startLine, number: number})
		}
	}
	line := 0
	for at := 0; at < len(data); line++ {
		end := len(data)
		if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		switch text := data[at:end]; {
		case marker(text, "---"):
			flush(at)
			start, startLine, marked = at, line, true
		case marker(text, "..."):
			flush(at)
			start, startLine, marked = end, line+1, false
		}
		at = end
	}
	flush(len(data))
	return chunks
}

// marker says whether a line is a document marker.
func marker(line []byte, mark string) bool {
	if !bytes.HasPrefix(line, []byte(mark)) {
		return false
	}
	rest := line[len(mark):]
	return len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0
}

// blank says whether a text has only comments, directives and its marker.
func blank(text []byte) bool {
	if marker(text, "---") {
		text = text[3:]
	}
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' && !bytes.HasPrefix(line, []byte("%YAML")) {
			return false
		}
	}
	return true
}

// badText finds the first thing in a document that no YAML reader should see:
// its byte offset, and what is wrong. Line breaks other than LF and CRLF are
// among it: YAML 1.1 ends a line at them, so a marker behind one would start a
// document that split does not see.
func badText(text []byte) (int, textProblem, string) {
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			lone := c == '\r' && (i+1 == len(text) || text[i+1] != '\n')
			if (c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f || lone {
				return i, textControl, fmt.Sprintf("control character U+%04X", c)
			}
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return i, textEncoding, fmt.Sprintf("byte 0x%02X is not UTF-8", c)
		case r == 0xfeff:
			return i, textMark, "byte order mark inside the source, left by joining files"
		case r >= 0x80 && r < 0xa0, r == 0xfffe, r == 0xffff:
			return i, textControl, fmt.Sprintf("control character U+%04X", r)
		case r == 0x2028, r == 0x2029:
			return i, textControl, fmt.Sprintf("line separator U+%04X, which only some readers take for a line break", r)
		}
		i += size
	}
	return 0, textFine, ""
}

type textProblem int

const (
	textFine textProblem = iota
	textEncoding
	textControl
	textMark
)

// place is line and column, from 1, of a byte offset in a text.
func place(text []byte, at int) (line, column int) {
	line = 1 + bytes.Count(text[:at], []byte("\n"))
	if i := bytes.LastIndexByte(text[:at], '\n'); i >= 0 {
		return line, 1 + utf8.RuneCount(text[i+1:at])
	}
	return line, 1 + utf8.RuneCount(text[:at])
}

// utf16 says whether a source is UTF-16 or UTF-32 by its byte order mark.
func utf16(data []byte) bool {
	return bytes.HasPrefix(data, []byte{0xff, 0xfe}) || bytes.HasPrefix(data, []byte{0xfe, 0xff}) ||
		bytes.HasPrefix(data, []byte{0, 0, 0xfe, 0xff})
}

// firstColumn is the column of the first character of line n that is no blank.
func firstColumn(text []byte, n int) int {
	lines := strings.SplitN(string(text), "\n", n+1)
	if n > len(lines) {
		return 0
	}
	line := lines[n-1]
	return 1 + len(line) - len(strings.TrimLeft(line, " \t"))
}
