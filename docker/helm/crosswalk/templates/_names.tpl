{{- define "crosswalk.name" -}}
{{- if .Values.fullnameOverride }}{{ .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}{{ else if contains "crosswalk" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-crosswalk" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "crosswalk.selector" -}}
app.kubernetes.io/name: crosswalk
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "crosswalk.labels" -}}
{{ include "crosswalk.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "crosswalk.account" -}}
{{- if .Values.serviceAccount.create }}{{ .Values.serviceAccount.name | default (include "crosswalk.name" .) }}{{ else }}{{ .Values.serviceAccount.name }}{{ end }}
{{- end }}
