// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"path"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// sysctlForm is that of the API server; slashes stand for dots.
var sysctlForm = regexp.MustCompile(`^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`)

// security is who the processes of a pod or container are, and what they may do.
type security struct {
	user     *int64
	nonRoot  *bool
	escalate *bool
}

// over returns the security of a container whose own context says what it says,
// over that of the pod, or over what is rendered.
func (s security) over(own *corev1.SecurityContext) security {
	if own == nil {
		return s
	}
	if own.RunAsUser != nil {
		s.user = own.RunAsUser
	}
	if own.RunAsNonRoot != nil {
		s.nonRoot = own.RunAsNonRoot
	}
	if own.AllowPrivilegeEscalation != nil {
		s.escalate = own.AllowPrivilegeEscalation
	}
	return s
}

const rootIsRefused = "is root, which runAsNonRoot: true keeps from starting: name another user, or say runAsNonRoot: false beside it"

// podSecurity checks the context of the pods and returns what comes out of it.
// The pods run as somebody else than root unless it says otherwise.
func (v *violations) podSecurity(at *field.Path, s *corev1.PodSecurityContext) security {
	nonRoot := true
	result := security{nonRoot: &nonRoot}
	if s == nil {
		return result
	}
	if s.RunAsNonRoot != nil {
		result.nonRoot = s.RunAsNonRoot
	}
	result.user = s.RunAsUser
	v.userID(at.Child("runAsUser"), s.RunAsUser)
	v.userID(at.Child("runAsGroup"), s.RunAsGroup)
	v.userID(at.Child("fsGroup"), s.FSGroup)
	for i := range s.SupplementalGroups {
		v.userID(at.Child("supplementalGroups").Index(i), &s.SupplementalGroups[i])
	}
	if *result.nonRoot && deref(result.user, 1) == 0 {
		v.invalid(at.Child("runAsUser"), 0, rootIsRefused)
	}
	one(v, at.Child("fsGroupChangePolicy"), s.FSGroupChangePolicy, corev1.FSGroupChangeOnRootMismatch, corev1.FSGroupChangeAlways)
	one(v, at.Child("supplementalGroupsPolicy"), s.SupplementalGroupsPolicy, corev1.SupplementalGroupsPolicyMerge, corev1.SupplementalGroupsPolicyStrict)
	one(v, at.Child("seLinuxChangePolicy"), s.SELinuxChangePolicy, corev1.SELinuxChangePolicyMountOption, corev1.SELinuxChangePolicyRecursive)
	v.profiles(at, s.SeccompProfile, s.AppArmorProfile)
	v.windows(at, s.WindowsOptions)
	seen := map[string]bool{}
	for i, sysctl := range s.Sysctls {
		at := at.Child("sysctls").Index(i).Child("name")
		name := strings.ReplaceAll(sysctl.Name, "/", ".")
		switch {
		case sysctl.Name == "":
			v.required(at, "name of a sysctl, like net.core.somaxconn")
		case len(sysctl.Name) > 253 || !sysctlForm.MatchString(sysctl.Name):
			v.invalid(at, sysctl.Name, "must be lower-case words with dots between them, like net.core.somaxconn")
		case seen[name]:
			v.duplicate(at, sysctl.Name)
		}
		seen[name] = true
	}
	return result
}

// containerSecurity checks the context of a container over what it has without;
// it returns what comes out of it.
func (v *violations) containerSecurity(at *field.Path, s *corev1.SecurityContext, without security) security {
	result := without.over(s)
	if s == nil {
		return result
	}
	v.userID(at.Child("runAsUser"), s.RunAsUser)
	v.userID(at.Child("runAsGroup"), s.RunAsGroup)
	if (s.RunAsUser != nil || s.RunAsNonRoot != nil) && deref(result.nonRoot, false) && deref(result.user, 1) == 0 {
		v.invalid(at.Child("runAsUser"), 0, rootIsRefused)
	}
	if s.ProcMount != nil && *s.ProcMount != corev1.DefaultProcMount {
		v.invalid(at.Child("procMount"), *s.ProcMount, "must be Default: Unmasked needs a user namespace, which is not rendered")
	}
	v.profiles(at, s.SeccompProfile, s.AppArmorProfile)
	v.windows(at, s.WindowsOptions)
	if deref(result.escalate, true) {
		return result
	}
	if deref(s.Privileged, false) {
		v.invalid(at.Child("privileged"), true, "needs allowPrivilegeEscalation: true beside it")
	}
	if s.Capabilities != nil {
		for i, c := range s.Capabilities.Add {
			if c == "CAP_SYS_ADMIN" {
				v.invalid(at.Child("capabilities", "add").Index(i), string(c), "needs allowPrivilegeEscalation: true beside it")
			}
		}
	}
	return result
}

// userID reports a number that no user or group can have.
func (v *violations) userID(at *field.Path, id *int64) {
	if id == nil {
		return
	}
	for _, why := range validation.IsValidUserID(*id) {
		v.invalid(at, *id, "%s", why)
	}
}

func (v *violations) windows(at *field.Path, w *corev1.WindowsSecurityContextOptions) {
	if w != nil {
		v.forbidden(at.Child("windowsOptions"), "the servers run on Linux")
	}
}

// profiles checks seccomp and AppArmor, which name a profile of the node when,
// and only when, it is of that node.
func (v *violations) profiles(at *field.Path, seccomp *corev1.SeccompProfile, apparmor *corev1.AppArmorProfile) {
	if seccomp != nil {
		v.profile(at.Child("seccompProfile"), string(seccomp.Type), seccomp.LocalhostProfile)
		if local := deref(seccomp.LocalhostProfile, ""); local != "" && (path.IsAbs(local) || climbs(local)) {
			v.invalid(at.Child("seccompProfile", "localhostProfile"), local, "must be relative to the kubelet's directory, without '..'")
		}
	}
	if apparmor != nil {
		v.profile(at.Child("appArmorProfile"), string(apparmor.Type), apparmor.LocalhostProfile)
		if local := deref(apparmor.LocalhostProfile, ""); strings.TrimSpace(local) != local || len(local) > 4095 {
			v.invalid(at.Child("appArmorProfile", "localhostProfile"), local, "must be at most 4095 letters, with no space at its ends")
		}
	}
}

func (v *violations) profile(at *field.Path, kind string, local *string) {
	const localhost = "Localhost"
	if kind == "" {
		v.required(at.Child("type"), "RuntimeDefault, Localhost or Unconfined")
	}
	oneOf(v, at.Child("type"), kind, "RuntimeDefault", localhost, "Unconfined")
	switch {
	case kind == localhost && deref(local, "") == "":
		v.required(at.Child("localhostProfile"), "name of a profile on the nodes")
	case kind != localhost && local != nil:
		v.forbidden(at.Child("localhostProfile"), "only with type: Localhost")
	}
}

// climbs says whether a path leaves the directory it is in.
func climbs(p string) bool {
	for part := range strings.SplitSeq(p, "/") {
		if part == ".." {
			return true
		}
	}
	return false
}

// one is oneOf for a pointer.
func one[T ~string](v *violations, at *field.Path, value *T, allowed ...T) {
	if value == nil {
		return
	}
	if *value == "" {
		names := make([]string, 0, len(allowed))
		for _, a := range allowed {
			names = append(names, string(a))
		}
		v.required(at, "one of %s", strings.Join(names, ", "))
	}
	oneOf(v, at, *value, allowed...)
}
