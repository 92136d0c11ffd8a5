{{- define "unitask.name" -}}
{{- if .Values.fullnameOverride }}{{ .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else if contains "unitask" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}{{ printf "%s-unitask" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "unitask.selector" -}}
app.kubernetes.io/name: unitask
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "unitask.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{ include "unitask.selector" . }}
{{- end }}

{{- define "unitask.image" -}}
{{- if .Values.image.digest }}{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else }}{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{- /* The settings, with those that the chart decides. */ -}}
{{- define "unitask.settings" -}}
{{- $own := dict "listen" "0.0.0.0:8420" "store" "env:UNITASK_DATABASE" }}
{{- if .Values.metrics.enabled }}{{ $_ := set $own "metrics_listen" "0.0.0.0:9420" }}{{ end }}
{{- toYaml (mustMergeOverwrite (deepCopy .Values.settings) $own) }}
{{- end }}
