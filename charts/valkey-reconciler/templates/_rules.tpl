{{- /* Generated from topologyjob/reconciler by go test ./internal/chart -update. Do not edit. */ -}}

{{- define "valkey-reconciler.rules" -}}
- apiGroups:
  - valkey-render.dev
  resources:
  - valkeyclusters
  verbs:
  - get
  - list
  - watch
- apiGroups:
  - valkey-render.dev
  resources:
  - valkeyacls
  verbs:
  - list
  - watch
- apiGroups:
  - valkey-render.dev
  resources:
  - valkeyclusters/status
  - valkeyacls/status
  - valkeynodes/status
  verbs:
  - patch
- apiGroups:
  - valkey-render.dev
  resources:
  - valkeynodes
  verbs:
  - get
  - list
  - watch
  - create
  - delete
- apiGroups:
  - apps
  resources:
  - statefulsets
  verbs:
  - get
  - list
  - watch
  - delete
- apiGroups:
  - ""
  resources:
  - services
  - configmaps
  - persistentvolumeclaims
  verbs:
  - list
  - watch
- apiGroups:
  - policy
  resources:
  - poddisruptionbudgets
  verbs:
  - list
  - watch
- apiGroups:
  - ""
  resources:
  - pods
  verbs:
  - list
  - watch
  - patch
- apiGroups:
  - ""
  resources:
  - pods/eviction
  verbs:
  - create
- apiGroups:
  - batch
  resources:
  - jobs
  verbs:
  - get
  - list
  - watch
  - create
  - delete
- apiGroups:
  - ""
  resources:
  - secrets
  verbs:
  - get
  - create
  - update
- apiGroups:
  - events.k8s.io
  resources:
  - events
  verbs:
  - list
  - create
  - patch
{{- end }}

{{- define "valkey-reconciler.ownRules" -}}
- apiGroups:
  - coordination.k8s.io
  resources:
  - leases
  verbs:
  - create
- apiGroups:
  - coordination.k8s.io
  resourceNames:
  - '{{ include "valkey-reconciler.lease" . }}'
  resources:
  - leases
  verbs:
  - get
  - update
{{- end }}

{{- define "valkey-reconciler.ownJobRules" -}}
- apiGroups:
  - batch
  resources:
  - jobs
  verbs:
  - get
  - list
  - watch
  - create
  - delete
- apiGroups:
  - ""
  resources:
  - pods
  verbs:
  - list
  - watch
{{- end }}

{{- define "valkey-reconciler.applyRules" -}}
- apiGroups:
  - valkey-render.dev
  resources:
  - valkeyclusters
  verbs:
  - get
- apiGroups:
  - ""
  resources:
  - configmaps
  verbs:
  - get
  - create
  - patch
  - update
  - delete
- apiGroups:
  - ""
  resources:
  - persistentvolumeclaims
  verbs:
  - get
  - create
  - patch
- apiGroups:
  - ""
  resources:
  - services
  verbs:
  - get
  - create
  - patch
  - delete
- apiGroups:
  - apps
  resources:
  - statefulsets
  verbs:
  - get
  - create
  - patch
  - delete
- apiGroups:
  - policy
  resources:
  - poddisruptionbudgets
  verbs:
  - get
  - create
  - patch
  - delete
- apiGroups:
  - networking.k8s.io
  resources:
  - networkpolicies
  verbs:
  - get
  - create
  - patch
  - delete
- apiGroups:
  - cert-manager.io
  resources:
  - certificates
  verbs:
  - get
  - create
  - patch
  - delete
- apiGroups:
  - monitoring.coreos.com
  resources:
  - podmonitors
  - prometheusrules
  verbs:
  - get
  - create
  - patch
  - delete
{{- end }}

{{- define "valkey-reconciler.metricsRules" -}}
- apiGroups:
  - authentication.k8s.io
  resources:
  - tokenreviews
  verbs:
  - create
- apiGroups:
  - authorization.k8s.io
  resources:
  - subjectaccessreviews
  verbs:
  - create
{{- end }}

{{- define "valkey-reconciler.guardRules" -}}
- apiGroups:
  - admissionregistration.k8s.io
  resources:
  - validatingadmissionpolicies
  - validatingadmissionpolicybindings
  verbs:
  - list
{{- end }}
