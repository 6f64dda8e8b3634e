// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package advice_test

import "testing"

func TestAdviceForPodsThatAreNotRestricted(t *testing.T) {
	judge(t, map[string]risk{
		"files of the node": {limits + "pod: {volumes: [{name: v, hostPath: {path: /v}}, {name: e, emptyDir: {}}]}", []string{"VR1132 spec.pod.volumes[0].hostPath"}},
		"pods as root":      {limits + "pod: {securityContext: {runAsUser: 0, runAsNonRoot: false}}", []string{"VR1132 spec.pod.securityContext.runAsNonRoot"}},
		"privileged containers": {
			limits + "pod: {containerSecurityContext: {privileged: true, allowPrivilegeEscalation: true}, containers: [{name: s, image: 's:1', securityContext: {capabilities: {add: [NET_ADMIN, NET_BIND_SERVICE]}}, ports: [{containerPort: 80, hostPort: 80}]}]}",
			[]string{
				"VR1132 spec.pod.containerSecurityContext.allowPrivilegeEscalation", "VR1132 spec.pod.containerSecurityContext.privileged",
				"VR1132 spec.pod.containers[0].ports[0].hostPort",
				"VR1132 spec.pod.containers[0].securityContext.allowPrivilegeEscalation", "VR1132 spec.pod.containers[0].securityContext.capabilities.add[0]",
				"VR1132 spec.pod.containers[0].securityContext.capabilities.drop",
			},
		},
		"probe of another host": {
			limits + "pod: {containers: [{name: s, image: 's:1', livenessProbe: {httpGet: {host: example.com, port: 80}}}]}", []string{"VR1132 spec.pod.containers[0].livenessProbe.httpGet.host"},
		},
		"seccomp off": {limits + "pod: {securityContext: {seccompProfile: {type: Unconfined}}}", []string{"VR1132 spec.pod.securityContext.seccompProfile.type"}},
		"a sidecar with restricted security": {
			limits + "pod: {containers: [{name: s, image: 's:1', securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}]}", nil,
		},
	})
}

func TestAdviceForWhatIsTakenLiterallyOrNotAtAll(t *testing.T) {
	judge(t, map[string]risk{
		"maxmemory 0 below a limit": {limits + "config: {maxmemory: '0'}", []string{"VR1107 spec.config[maxmemory]"}},
		"maxmemory 0 without one":   {"config: {maxmemory: '0'}", []string{"VR1108 spec.resources.limits.memory"}},
		"exporter said to be off": {
			limits + "metrics: {image: 'e:1', args: [--debug], resources: {limits: {memory: 64Mi}}}",
			[]string{"VR1120 spec.metrics.args", "VR1120 spec.metrics.image", "VR1120 spec.metrics.resources"},
		},
		"variable in arguments of a module": {
			limits + "modules: [{name: m, image: 'm:1', path: /m.so, args: ['$(POD_NAME)', '$$(A)']}]", []string{"VR1109 spec.modules[0].args[0]"},
		},
		"variable in arguments of the exporter": {
			limits + "metrics: {enabled: true, args: ['--a=$(A)', '--b=$(B)']}\npod: {containers: [{name: exporter, env: [{name: B, value: x}]}]}",
			[]string{"VR1109 spec.metrics.args[0]"},
		},
	})
}
