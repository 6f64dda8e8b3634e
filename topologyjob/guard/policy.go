// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"cmp"

	admission "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

const (
	// Prefix begins the name of every object of the guard.
	Prefix = name.GuardPrefix
	// Component is the value of the component label on every object of the guard.
	Component = "guard"
	// DefaultReconciler is the user name of the reconciler's service account, as the
	// chart makes it by default.
	DefaultReconciler = "system:serviceaccount:valkey-system:valkey-reconciler"
)

// Options of the policies.
type Options struct {
	// Suffix ends the name of every object, so that two installations do not fight
	// over one object: the guard holds while any of them is there. It begins with a
	// dot, or is empty.
	Suffix string
	// FailurePolicy is what the server does when it cannot evaluate a policy about our
	// own objects, Fail by default. Policies that look at objects of others too never
	// fail them, see each.
	FailurePolicy admission.FailurePolicyType
	// Reconciler is the user name of the reconciler, DefaultReconciler by default.
	Reconciler string
}

// Policy is a policy and what puts it into force.
type Policy struct {
	Policy  *admission.ValidatingAdmissionPolicy
	Binding *admission.ValidatingAdmissionPolicyBinding
}

// Policies are all policies, in the order of their names. The objects are new and
// the caller's.
func Policies(o Options) []Policy {
	o.FailurePolicy = cmp.Or(o.FailurePolicy, admission.Fail)
	o.Reconciler = cmp.Or(o.Reconciler, DefaultReconciler)
	return []Policy{
		claimPolicy(o), clusterPolicy(o), dataPolicy(o), definitionPolicy(o), jobPolicy(o), labelPolicy(o),
		ownPolicy(o), podPolicy(o), scalePolicy(o), secretPolicy(o), shardPolicy(o),
	}
}

// rule is what a policy is about. Its expressions are CEL and never fail: what may be
// absent is asked for with a default.
type rule struct {
	// called is the name of the policy behind the prefix.
	called string
	// resources that the policy is evaluated for, and with is a label that narrows
	// them, if any.
	resources []admission.NamedRuleWithOperations
	with      string
	// clusters says that the policy is evaluated with each ValkeyCluster of the
	// object's namespace as params, and not at all where there is none.
	clusters  bool
	failure   admission.FailurePolicyType
	matches   []admission.MatchCondition
	variables []admission.Variable
	denials   []denial
}

// denial is a condition that must hold, and the message for when it does not.
type denial struct {
	unless string
	// message is an expression, fallback its text should that fail.
	message, fallback string
}

func (r rule) build(o Options) Policy {
	meta := metav1.ObjectMeta{Name: Prefix + r.called + o.Suffix, Labels: map[string]string{
		name.LabelName: "valkey-render-guard", name.LabelComponent: Component, name.LabelPartOf: name.PartOf,
	}}
	failure := cmp.Or(r.failure, o.FailurePolicy)
	policy := &admission.ValidatingAdmissionPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: admission.SchemeGroupVersion.String(), Kind: "ValidatingAdmissionPolicy"},
		ObjectMeta: meta,
		Spec: admission.ValidatingAdmissionPolicySpec{
			FailurePolicy:    &failure,
			MatchConstraints: &admission.MatchResources{ResourceRules: r.resources},
			MatchConditions:  r.matches,
			Variables:        r.variables,
		},
	}
	binding := &admission.ValidatingAdmissionPolicyBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: admission.SchemeGroupVersion.String(), Kind: "ValidatingAdmissionPolicyBinding"},
		ObjectMeta: *meta.DeepCopy(),
		Spec:       admission.ValidatingAdmissionPolicyBindingSpec{PolicyName: meta.Name, ValidationActions: []admission.ValidationAction{admission.Deny}},
	}
	if r.with != "" {
		policy.Spec.MatchConstraints.ObjectSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: r.with, Operator: metav1.LabelSelectorOpExists},
		}}
	}
	if r.clusters {
		allow := admission.AllowAction
		policy.Spec.ParamKind = &admission.ParamKind{APIVersion: v1alpha1.GroupVersion().String(), Kind: "ValkeyCluster"}
		binding.Spec.ParamRef = &admission.ParamRef{Selector: &metav1.LabelSelector{}, ParameterNotFoundAction: &allow}
	}
	for _, d := range r.denials {
		forbidden := metav1.StatusReasonForbidden
		policy.Spec.Validations = append(policy.Spec.Validations, admission.Validation{
			Expression: d.unless, MessageExpression: d.message, Message: d.fallback, Reason: &forbidden,
		})
	}
	return Policy{policy, binding}
}

// on is a rule over resources of one API group.
func on(group string, version string, resources []string, operations ...admission.OperationType) []admission.NamedRuleWithOperations {
	return []admission.NamedRuleWithOperations{{RuleWithOperations: admission.RuleWithOperations{
		Operations: operations,
		Rule:       admission.Rule{APIGroups: []string{group}, APIVersions: []string{version}, Resources: resources},
	}}}
}
