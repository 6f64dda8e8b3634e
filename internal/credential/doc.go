// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package credential makes up what the rendered objects of a cluster refer to and
// nobody keeps in Git: passwords, and certificates of an authority of their own. It
// is for clusters that live on one machine only. What it made is kept as files, one
// for each key of a Secret, so that people and programs of the same user can log in.
package credential
