// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package schemalock keeps those apart who use kustomize's schema of kinds. It is
// one for the whole process: a build that adds our kinds would change how a patch
// merges lists at the same time.
package schemalock

import "sync"

var schema sync.RWMutex

// Exclusive waits until nobody uses the schema, and keeps everyone out until the
// function that it returns is called: for those who change it.
func Exclusive() (release func()) {
	schema.Lock()
	return schema.Unlock
}

// Shared waits until nobody changes the schema, and keeps those who would out until
// the function that it returns is called.
func Shared() (release func()) {
	schema.RLock()
	return schema.RUnlock
}
