{{- define "stele.name" -}}
{{- if contains "stele" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-stele" (.Release.Name | trunc 44 | trimSuffix "-") }}{{ end }}
{{- end }}

{{- define "stele.selector" -}}
app.kubernetes.io/name: stele
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "stele.labels" -}}
{{ include "stele.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "stele.config" -}}
{{- $metrics := dict "port" .Values.metrics.port "host" "0.0.0.0" -}}
{{- toYaml (set (deepCopy .Values.config) "metrics" $metrics) }}
{{- end }}
