// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package directive_test

import (
	"fmt"

	"github.com/valkey-render/valkey-render/render/directive"
)

func ExampleCheck() {
	fmt.Println(directive.Check("9.1", "maxmemory-polcy", "allkeys-lru"))
	fmt.Println(directive.Check("9.1", "maxmemory", "100Mi"))
	fmt.Println(directive.Check("8.1", "shutdown-on-sigint", "failover"))
	fmt.Println(directive.Check("9.1", "port", "6380"))
	fmt.Println(directive.Check("9.1", "maxmemory-policy", "allkeys-lru"))
	// Output:
	// maxmemory-polcy: unknown directive; did you mean "maxmemory-policy"?
	// maxmemory: value "100Mi" has the unknown unit "Mi": b, k, kb, m, mb, g and gb are known; did you mean "100mb"?
	// shutdown-on-sigint: value "failover" must be one of default, save, nosave, now, force
	// port: reserved: the port is in every Service, probe and announcement; use spec.networking.port
	// <nil>
}

func ExampleLine() {
	line, err := directive.Line("save", "3600 1\n300 100")
	fmt.Println(line, err)
	_, err = directive.Line("syslog-ident", "a\nport 0")
	fmt.Println(err)
	// Output:
	// save 3600 1
	// save 300 100 <nil>
	// syslog-ident: value holds the control character U+000A
}
