{{- /*
Names. An object of the namespace is named for the release, one of the whole Kubernetes
cluster for the namespace too; none is cut, so that two releases never share one.
*/ -}}
{{- define "valkey-reconciler.name" -}}
{{- if not (regexMatch "^[a-z]([-a-z0-9]{0,34}[a-z0-9])?$" .Release.Name) -}}
{{- fail (printf "the name of the release is %q: it begins with a letter and has letters, digits and dashes, at most 36" .Release.Name) -}}
{{- end -}}
{{- if eq .Release.Name "valkey-reconciler" -}}
valkey-reconciler
{{- else -}}
{{ .Release.Name }}-valkey-reconciler
{{- end -}}
{{- end }}

{{- define "valkey-reconciler.clusterName" -}}
valkey-reconciler.{{ .Release.Namespace }}.{{ .Release.Name }}
{{- end }}

{{- define "valkey-reconciler.serviceAccountName" -}}
{{ .Values.serviceAccount.name | default (include "valkey-reconciler.name" .) }}
{{- end }}

{{- define "valkey-reconciler.selector" -}}
app.kubernetes.io/name: valkey-reconciler
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "valkey-reconciler.labels" -}}
{{ include "valkey-reconciler.selector" . }}
app.kubernetes.io/component: reconciler
app.kubernetes.io/part-of: valkey-render
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "valkey-reconciler.image" -}}
{{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{- /* Nonempty when a leader is elected. */ -}}
{{- define "valkey-reconciler.elects" -}}
{{- if or .Values.leaderElection (gt (int .Values.replicaCount) 1) -}}yes{{- end -}}
{{- end }}

{{- /* The watched namespaces as JSON; none means all. */ -}}
{{- define "valkey-reconciler.namespaces" -}}
{{- if and (eq .Values.rbac.scope "namespace") (not .Values.watchNamespaces) -}}
{{ list .Release.Namespace | toJson }}
{{- else -}}
{{ .Values.watchNamespaces | uniq | toJson }}
{{- end -}}
{{- end }}

{{- /* The Lease, as render/name has it. */ -}}
{{- define "valkey-reconciler.lease" -}}
valkey-reconciler{{ with .Values.shardSelector }}-{{ . | sha256sum | trunc 8 }}{{ end }}.valkey-render.dev
{{- end }}
