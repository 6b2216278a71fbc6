import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { mergedMetrics, metricsText } from '../../src/admin/metrics-text.ts'
import { createMemory } from '../../src/fleet/store/memory.ts'
import { startStage } from '../stage/stage.ts'

/** Returns what a proxy and its workers expose. The proxy uses TLS and a store, and therefore has all metrics. */
export async function exposedText(): Promise<string> {
  const settings = {
    ...{ 'tls.key': 'test/certificates/localhost.key', 'tls.cert': 'test/certificates/localhost.crt' },
    'store.url': 'redis://in.memory',
  }
  const proxy = await startStage({ v1: null, v2: 'http://127.0.0.1:1', proxy: settings, stores: [createMemory(Date.now).open()] })
  const text = await (await fetch(`${proxy.adminUrl}/metrics`)).text()
  const values = await proxy.metrics.values()
  await proxy.close()
  const merged = await mergedMetrics({ supervisor: [], workers: [{ place: 1, values }], ended: [], listening: 1, deaths: 0 })
  const ofWorkers = await metricsText(merged, 'prometheus')
  return `${text}${ofWorkers}`
}

/** Returns the names of all metrics. */
export async function exposedMetrics(): Promise<ReadonlySet<string>> {
  return new Set([...(await exposedText()).matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name))
}

/** Returns the metrics that a PromQL expression names; the series of a histogram by the histogram's name. */
export function metricsIn(expression: string): readonly string[] {
  const names = [...expression.matchAll(/\b(?:crosswalk|process)_[a-z0-9_]+/g)].map(([name]) => name)
  return names.map((name) => name.replace(/_(bucket|sum|count)$/, ''))
}

export interface Alert {
  readonly alert: string
  readonly expr: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: { readonly summary: string; readonly description: string; readonly runbook_url: string; readonly page_url?: string }
}

export function alerts(): readonly Alert[] {
  return parse(readFileSync('docker/alerts.yaml', 'utf8')).groups.flatMap(({ rules }: { rules: Alert[] }) => rules)
}

/** A moment at which promtool looks whether alerts fire. */
export interface AlertTest {
  readonly name: string
  readonly input_series: readonly { readonly series: string }[]
  readonly alert_rule_test?: readonly { readonly alertname: string; readonly exp_alerts?: readonly object[] }[]
  readonly promql_expr_test?: readonly { readonly exp_samples?: readonly { readonly labels: string }[] }[]
}

/** The unit tests of the alerts that promtool runs. */
export function alertTests(): readonly AlertTest[] {
  return ['alerts', 'slow-alerts'].flatMap((name) => parse(readFileSync(`test/admin/${name}.yaml`, 'utf8')).tests as AlertTest[])
}

export interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly description?: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly targets?: readonly { readonly expr: string }[]
}

interface Dashboard {
  readonly links?: readonly object[]
  readonly templating: { readonly list: readonly { readonly name: string; readonly query?: { readonly query?: string } }[] }
  readonly panels: readonly Panel[]
  readonly annotations: { readonly list: readonly DrawnEvent[] }
}

export const dashboard = (): Dashboard => JSON.parse(readFileSync('docker/grafana-dashboard.json', 'utf8'))

export function panels(): readonly Panel[] {
  return dashboard().panels
}

/** An event that is drawn across every panel. */
export interface DrawnEvent {
  readonly name: string
  readonly expr: string
}

export function drawnEvents(): readonly DrawnEvent[] {
  return dashboard().annotations.list
}

/** True if promtool is installed; otherwise says why tests are skipped. */
export function hasPromtool(): boolean {
  if (spawnSync('promtool', ['--version']).status === 0) return true
  console.warn("SKIPPED: rules are not checked by promtool, which comes with Debian's package prometheus")
  return false
}

/** Runs promtool; returns its complaints, or an empty text. */
export function promtool(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' })
  return status === 0 ? '' : stdout + stderr
}
