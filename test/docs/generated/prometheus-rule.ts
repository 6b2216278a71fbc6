import { parse, stringify } from 'yaml'

const HEAD = `# The rules of docker/alerts.yaml for the Prometheus Operator. \`npm run docs\` writes this file.
`

/**
 * Returns the rules as a PrometheusRule of Kubernetes, as YAML.
 *
 * @example prometheusRule(readFileSync('docker/alerts.yaml', 'utf8'))
 */
export function prometheusRule(alerts: string): string {
  const metadata = { name: 'crosswalk', labels: { 'app.kubernetes.io/name': 'crosswalk' } }
  const rule = { apiVersion: 'monitoring.coreos.com/v1', kind: 'PrometheusRule', metadata, spec: parse(alerts) }
  return HEAD + stringify(rule, { lineWidth: 0 })
}
