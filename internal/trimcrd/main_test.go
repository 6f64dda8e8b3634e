// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOnlyDescriptionsBelowForeignTypesGo(t *testing.T) {
	const in = `
schema:
  description: a cluster
  properties:
    description:
      description: ours, a field that is called description
      type: string
    volumes:
      description: ours, volumes of the pod
      items:
        description: theirs
        properties:
          name:
            description: theirs
            type: string
          labels:
            additionalProperties:
              description: theirs
              type: string
            type: object
        type: object
      type: array
`
	const want = header + `schema:
  description: a cluster
  properties:
    description:
      description: ours, a field that is called description
      type: string
    volumes:
      description: ours, volumes of the pod
      items: {properties: {labels: {additionalProperties: {type: string}, type: object}, name: {type: string}}, type: object}
      type: array
`
	got, err := trim([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
