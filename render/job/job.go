// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"cmp"
	"maps"
	"regexp"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// Kinds of Jobs, as `valkey-topology run --kind` and the names of Jobs have them.
const (
	// KindSecrets makes the Secrets of a cluster.
	KindSecrets = "secrets"
	// KindConverge does everything that a cluster without a reconciler needs.
	KindConverge = "converge"
	// KindLiveConfig sets the live directives on servers that run.
	KindLiveConfig = "liveconfig"
	// KindACL sets the users of servers that run.
	KindACL = "acl"
	// KindTLS has servers that run serve a renewed certificate.
	KindTLS = "tls"
	// KindRotate does a step of a rotation of passwords.
	KindRotate = "rotate"
	// KindApply renders the cluster and applies what comes out.
	KindApply = "apply"
)

// Repository is the image repository of the programs that Jobs run.
const Repository = "ghcr.io/valkey-render/valkey-render"

// release is what a released version looks like.
var release = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`)

// pseudo is what Go calls a build of a commit.
var pseudo = regexp.MustCompile(`[-.][0-9]{14}-[0-9a-f]{12}$`)

// Image is the image of a version of the programs: its release, or dev for builds
// that are none.
func Image(version string) string {
	if !release.MatchString(version) || pseudo.MatchString(version) {
		version = "dev"
	}
	return Repository + ":" + version
}

// Places in the container of a Job.
const (
	// Program is what runs in it.
	Program = "/valkey-topology"
	// SpecFile is the content of the annotation v1alpha1.AnnotationSpec.
	SpecFile = inputDir + "/cluster.yaml"
	// SystemDir has the Secret <cluster>-system.
	SystemDir = "/valkey/system"
	// LiveDir has the ConfigMap <cluster>-live.
	LiveDir = "/valkey/live"
	// ACLDir has the Secret <cluster>-acl.
	ACLDir = "/valkey/acl"
	// TLSDir has ca.crt, tls.crt and tls.key.
	TLSDir = "/valkey/tls"

	inputDir = "/valkey/input"
)

// EnvNamespace is the variable with the namespace of the pod: a rendering that names
// none works in any.
const EnvNamespace = "POD_NAMESPACE"

// ContainerName is the name of the one container of a Job.
const ContainerName = "job"

// Converged is the result in the termination message of a Job that has done all there was
// to do, as package topologyjob/outcome has it.
const Converged = "Converged"

const (
	// uid is the user of the image.
	uid = 65532
	// graceSeconds is how long a Job has to stop at a place of its choosing.
	graceSeconds = 10
	// exitBadInput is outcome.ExitBadInput of topologyjob.
	exitBadInput = 64
	// readable is for files that anybody may read, secretMode for others.
	readable   int32 = 0o444
	secretMode int32 = 0o440
)

// Params say what a Job does.
type Params struct {
	// Cluster has its defaults.
	Cluster *v1alpha1.ValkeyCluster
	// Kind of the work.
	Kind string
	// Name of the Job, see name.Job and name.RenderedJob.
	Name string
	// Image of the programs.
	Image string
	// Args follow `run --kind <Kind> --deadline <Deadline>`.
	Args []string
	// Spec is what the file SpecFile holds; there is none without.
	Spec string
	// Deadline of one pod. The Job has it, for all its pods, as Retries allow.
	Deadline time.Duration
	// Retries are how many pods may follow a failed one. Never after bad input,
	// and only when the one before has ended.
	Retries int32
	// TTL is how long the Job stays when it is done; nil is for ever.
	TTL *time.Duration
	// Account is the ServiceAccount whose token the pod gets; none without.
	Account string
	// System mounts the Secret of the system users, and the certificates.
	System bool
	// Annotations of the Job, not of its pod.
	Annotations map[string]string
	// Margin is what a pod needs beside its deadline, to be scheduled, pull and stop;
	// 10 minutes when 0.
	Margin time.Duration
	// Namespace that the Job runs in, that of the cluster when "".
	Namespace string
	// Owner makes the Job go with an object of its namespace.
	Owner *metav1.OwnerReference
}

// New is the Job. Only its status is left to the server.
func New(p Params) *batchv1.Job {
	c := p.Cluster
	j := &batchv1.Job{
		TypeMeta:   metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{Name: p.Name, Namespace: cmp.Or(p.Namespace, c.Namespace), Labels: labels(p, name.Labels(c.Name, name.ComponentJob))},
		Spec: batchv1.JobSpec{
			BackoffLimit:          &p.Retries,
			ActiveDeadlineSeconds: new(int64(p.overall().Seconds())),
			// Two pods of a Job never run at once.
			PodReplacementPolicy: new(batchv1.Failed),
			PodFailurePolicy:     failurePolicy(),
			Template:             template(p),
		},
	}
	if len(p.Annotations) > 0 {
		j.Annotations = maps.Clone(p.Annotations)
	}
	if p.Owner != nil {
		j.OwnerReferences = []metav1.OwnerReference{*p.Owner}
	}
	if p.TTL != nil {
		j.Spec.TTLSecondsAfterFinished = new(int32(p.TTL.Seconds()))
	}
	return j
}

// labels adds the namespace of the cluster to those of a Job that runs in another one.
func labels(p Params, l map[string]string) map[string]string {
	if p.Namespace != "" {
		l[name.LabelClusterNamespace] = p.Cluster.Namespace
	}
	return l
}

// margin is what a pod needs beside its deadline: to be scheduled, pull and stop.
const margin = 10 * time.Minute

// overall is the deadline of all pods together.
func (p Params) overall() time.Duration {
	return time.Duration(1+p.Retries) * (p.Deadline + cmp.Or(p.Margin, margin))
}

// failurePolicy does not count pods that the cluster took away, however they ended, and
// ends the Job at once when its input is bad. The first rule that fits is followed.
func failurePolicy() *batchv1.PodFailurePolicy {
	return &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
		{
			Action:          batchv1.PodFailurePolicyActionIgnore,
			OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}},
		},
		{
			Action: batchv1.PodFailurePolicyActionFailJob,
			OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
				ContainerName: new(ContainerName), Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{exitBadInput},
			},
		},
	}}
}

func template(p Params) corev1.PodTemplateSpec {
	c := p.Cluster
	custom := c.Spec.JobsTemplate
	if custom == nil {
		custom = &v1alpha1.JobsTemplateSpec{}
	}
	t := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels(p, name.PodLabels(c.Name, name.ComponentJob)), Annotations: map[string]string{}},
		Spec: corev1.PodSpec{
			RestartPolicy:                 corev1.RestartPolicyNever,
			ServiceAccountName:            p.Account,
			AutomountServiceAccountToken:  new(p.Account != ""),
			EnableServiceLinks:            new(false),
			TerminationGracePeriodSeconds: new(int64(graceSeconds)),
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot: new(true), RunAsUser: new(int64(uid)), RunAsGroup: new(int64(uid)), FSGroup: new(int64(uid)),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Tolerations:       c.JobTolerations(),
			NodeSelector:      custom.NodeSelector,
			PriorityClassName: custom.PriorityClassName,
			ImagePullSecrets:  custom.ImagePullSecrets,
			Containers:        []corev1.Container{container(p, custom)},
			Volumes:           volumes(p),
		},
	}
	if len(t.Spec.ImagePullSecrets) == 0 {
		t.Spec.ImagePullSecrets = c.Spec.ImagePullSecrets
	}
	for key, value := range custom.Annotations {
		t.Annotations[key] = value
	}
	if p.Spec != "" {
		t.Annotations[v1alpha1.AnnotationSpec] = p.Spec
	}
	return t
}

func container(p Params, custom *v1alpha1.JobsTemplateSpec) corev1.Container {
	resources := custom.Resources
	if resources.Limits == nil && resources.Requests == nil && resources.Claims == nil {
		resources = defaultResources()
	}
	args := []string{"run", "--kind=" + p.Kind, "--deadline=" + seconds(p.Deadline)}
	if p.Spec != "" {
		args = append(args, "--filename="+SpecFile)
	}
	return corev1.Container{
		Name:            ContainerName,
		Image:           p.Image,
		ImagePullPolicy: p.Cluster.PullPolicy(p.Image),
		Command:         []string{Program},
		Args:            append(args, p.Args...),
		Env: []corev1.EnvVar{{Name: EnvNamespace, ValueFrom: &corev1.EnvVarSource{
			FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.namespace"},
		}}},
		Resources:    resources,
		VolumeMounts: mounts(p),
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: new(false),
			ReadOnlyRootFilesystem:   new(true),
			Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
	}
}

// defaultResources are ample for a program that waits most of the time. Namespaces
// with a quota take no pod without them.
func defaultResources() corev1.ResourceRequirements {
	return corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("32Mi")},
		Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("256Mi")},
	}
}

func seconds(d time.Duration) string { return strconv.Itoa(int(d.Seconds())) + "s" }
