// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package node

// Login is who a server logs in as at another one. It is secret and is not printed.
type Login struct {
	// User is "" for nobody.
	User string
	// Passwords are tried in order until one is right.
	Passwords []string
}

// String keeps passwords out of logs.
func (l Login) String() string { return l.User }

// GoString keeps passwords out of logs.
func (l Login) GoString() string { return l.User }
