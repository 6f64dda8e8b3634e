// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package argument reads the flags of valkey-topology that have a form of their own. It is
// apart from the commands so that it fuzzes without all that they are made of.
package argument
