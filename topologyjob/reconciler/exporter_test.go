// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestExportersAreAskedToReadTheirPassword, and one that cannot says so.
func TestExportersAreAskedToReadTheirPassword(t *testing.T) {
	asked := ""
	code := http.StatusOK
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.Method + " " + r.URL.Path
		w.WriteHeader(code)
	}))
	defer s.Close()
	address := strings.TrimPrefix(s.URL, "http://")
	if err := NewExporters().Reload(t.Context(), address); err != nil || asked != "GET /-/reload" {
		t.Errorf("%v, %s", err, asked)
	}
	code = http.StatusInternalServerError
	if err := NewExporters().Reload(t.Context(), address); err == nil {
		t.Error("no error")
	}
}
