// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Command standin runs in the place of a sidecar that is not to be had: it answers every
// HTTP request on port 9121, where an exporter would, until it is told to stop, and says
// when it is asked to read its password again.
package main

import (
	"fmt"
	"net/http"
	"os"
	"time"
)

func main() {
	server := &http.Server{Addr: ":9121", ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(answer)}
	if err := server.ListenAndServe(); err != nil {
		fmt.Fprintln(os.Stderr, "standin:", err)
		os.Exit(1)
	}
}

func answer(_ http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/-/reload" {
		fmt.Println("reload")
	}
}
