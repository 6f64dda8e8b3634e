// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package settle is the loop of the Jobs that set something on servers that run: live
// directives, users, certificates, passwords. Each pass asks every pod, decides with
// package setting and acts; it is over when a pass finds nothing to do on any pod.
// Nothing is remembered between passes that a run that is started again would need.
//
// What a server may refuse is tried on one of each version first. If that one refuses,
// no other is asked, and what had been set on it before is set back.
package settle
