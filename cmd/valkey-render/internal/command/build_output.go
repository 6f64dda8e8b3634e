// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/valkey-render/valkey-render/render/write"
)

// stream writes YAML an object at a time: the text of a thousand clusters is 80 MB.
func stream(w io.Writer, objects []*unstructured.Unstructured) error {
	out := &output{w: w}
	buffered := bufio.NewWriterSize(out, 1<<16)
	err := write.To(buffered, objects)
	if err == nil {
		err = buffered.Flush()
	}
	if out.err != nil {
		// Whichever object was being written has nothing to do with it.
		return out.err
	}
	return err
}

// output is standard output, with the error that ended it.
type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(p []byte) (int, error) {
	if o.err == nil {
		o.err = emit(o.w, p)
	}
	if o.err != nil {
		return 0, o.err
	}
	return len(p), nil
}

// list is all objects as one JSON List, which kubectl applies like a stream.
func list(objects []*unstructured.Unstructured) ([]byte, error) {
	items := make([]map[string]any, len(objects))
	for i, object := range objects {
		items[i] = object.Object
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	return b.Bytes(), err
}
