{{- define "valkey-cluster.name" -}}
{{ .Values.clusterName | default .Release.Name }}
{{- end }}

{{- /* What of the values is no field of the spec. */ -}}
{{- define "valkey-cluster.spec" -}}
{{ omit .Values "clusterName" "clusterLabels" "clusterAnnotations" "helmTest" "global" | toYaml }}
{{- end }}

{{- define "valkey-cluster.labels" -}}
{{- $ours := dict
  "app.kubernetes.io/name" "valkey"
  "app.kubernetes.io/instance" (include "valkey-cluster.name" .)
  "app.kubernetes.io/managed-by" .Release.Service
  "app.kubernetes.io/part-of" "valkey-render"
  "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_")
-}}
{{ merge $ours .Values.clusterLabels | toYaml }}
{{- end }}

{{- define "valkey-cluster.image" -}}
{{- if .Values.helmTest.image -}}
{{ .Values.helmTest.image }}
{{- else if .Values.image -}}
{{ .Values.image }}
{{- else -}}
docker.io/valkey/valkey:{{ .Values.version | default "9.1" }}
{{- end -}}
{{- end }}

{{- define "valkey-cluster.port" -}}
{{ ((.Values.networking).port) | default 6379 | int }}
{{- end }}

{{- /* The Service to write to. */ -}}
{{- define "valkey-cluster.service" -}}
{{ include "valkey-cluster.name" . }}{{ if has .Values.topology (list "Replication" "Sentinel") }}-primary{{ end }}
{{- end }}

{{- define "valkey-cluster.host" -}}
{{ include "valkey-cluster.service" . }}.{{ .Release.Namespace }}.svc
{{- end }}

{{- /* Nonempty when clients log in. */ -}}
{{- define "valkey-cluster.auth" -}}
{{- $auth := .Values.auth | default dict -}}
{{- if not (and (hasKey $auth "enabled") (eq $auth.enabled false)) -}}yes{{- end -}}
{{- end }}

{{- define "valkey-cluster.authSecret" -}}
{{ (((.Values.auth).existingSecret).name) | default (printf "%s-auth" (include "valkey-cluster.name" .)) }}
{{- end }}

{{- define "valkey-cluster.authKey" -}}
{{ (((.Values.auth).existingSecret).key) | default "password" }}
{{- end }}

{{- define "valkey-cluster.tlsSecret" -}}
{{ ((.Values.tls).secretName) | default (printf "%s-tls" (include "valkey-cluster.name" .)) }}
{{- end }}
