// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/load"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
)

// specs are the flags that say which cluster it is about.
type specs struct {
	files     []string
	namespace string
}

func (s *specs) addTo(cmd *cobra.Command) {
	cmd.Flags().StringArrayVarP(&s.files, "filename", "f", nil, "`file` with the ValkeyCluster and its ValkeyACLs; repeatable")
	cmd.Flags().StringVarP(&s.namespace, "namespace", "n", "", "namespace of objects that name none; one that names another is an error")
	_ = cmd.MarkFlagFilename("filename", "yaml", "yml", "json")
}

// read returns the one cluster of the files, with its defaults, and its ACLs.
// fallback is the namespace of objects that name none. Every error is bad input.
func (s *specs) read(files Files, fallback string) (*v1alpha1.ValkeyCluster, []*v1alpha1.ValkeyACL, error) {
	c, acls, err := s.parse(files, fallback)
	if err != nil {
		return nil, nil, &verdict{outcome.BadInput, "InputInvalid", err}
	}
	return c, acls, nil
}

func (s *specs) parse(files Files, fallback string) (*v1alpha1.ValkeyCluster, []*v1alpha1.ValkeyACL, error) {
	if len(s.files) == 0 {
		return nil, nil, errors.New("nothing to read: name a file with -f")
	}
	var sources []load.Source
	var problems []error
	for _, f := range s.files {
		data, err := files.ReadFile(f)
		if err != nil {
			problems = append(problems, err)
		}
		sources = append(sources, load.Source{Name: f, Data: data})
	}
	if err := errors.Join(problems...); err != nil {
		return nil, nil, err
	}
	set, findings := load.Parse(sources, load.Options{Namespace: s.namespace})
	if err := findings.Err(); err != nil {
		return nil, nil, err
	}
	if len(set.Clusters) != 1 {
		return nil, nil, fmt.Errorf("%d ValkeyClusters in what was given, must be one", len(set.Clusters))
	}
	c := set.Clusters[0].Object.DeepCopy()
	c.Namespace = cmp.Or(c.Namespace, fallback)
	c.Default()
	if errs := c.Validate(); len(errs) > 0 {
		return nil, nil, errs.ToAggregate()
	}
	var acls []*v1alpha1.ValkeyACL
	for _, a := range set.ACLs {
		object := a.Object.DeepCopy()
		object.Namespace = cmp.Or(object.Namespace, fallback)
		object.Default()
		if errs := object.Validate(); len(errs) > 0 {
			problems = append(problems, errs.ToAggregate())
		}
		acls = append(acls, object)
	}
	return c, acls, errors.Join(problems...)
}
