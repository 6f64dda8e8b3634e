// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/finding"
)

// Advice is one risk in a spec.
type Advice struct {
	// Code is one of VR1xxx.
	Code finding.Code
	// Path of the field to change.
	Path *field.Path
	// Message says what will happen and what to do instead.
	Message string
}

// rule looks at one risk. The cluster has its defaults.
type rule func(*v1alpha1.ValkeyCluster) []Advice

// rules are all of them, in the order in which they are
// reported for one place.
func rules() []rule {
	return []rule{
		memoryWithoutLimit,
		maxmemoryAboveLimit,
		noMajority,
		dataWithoutReplica,
		gracePeriodTooShort,
		durableLosesWrites,
		spreadUnmet,
		unexpandedVariable,
		unsafeSysctl,
		mutableImageTag,
		oneReplicaAcknowledges,
		evictionContradictsProfile,
		authDisabled,
		userWithoutPassword,
		budgetDisabled,
		claimsDeletedWithWorkload,
		volumeTooSmall,
		tooManyObjects,
		shardsRolledTogether,
		takeoverLosesWrites,
		newShardsStayEmpty,
		moreThreadsThanCPUs,
		memoryRequestBelowLimit,
		metricsAreUnread,
		plainBus,
		unprotectedDeletion,
		dataLossAllowed,
		patchFragile,
		oldDirectiveName,
		certificateWithoutLocalhost,
		notRestricted,
	}
}

// Check returns the advice for a cluster that has its defaults and is valid.
func Check(c *v1alpha1.ValkeyCluster) []Advice {
	var all []Advice
	for _, r := range rules() {
		all = append(all, r(c)...)
	}
	return all
}

// one returns a single piece of advice.
func one(code finding.Code, path *field.Path, format string, args ...any) []Advice {
	return []Advice{{Code: code, Path: path, Message: fmt.Sprintf(format, args...)}}
}

func spec() *field.Path { return field.NewPath("spec") }
