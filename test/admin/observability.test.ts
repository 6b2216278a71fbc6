import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { configWith } from '../../src/app/config/config.ts'
import { startStage } from '../stage/stage.ts'
import {
  alerts,
  alertTests,
  dashboard,
  drawnEvents,
  exposedMetrics,
  hasPromtool,
  metricsIn,
  type Panel,
  panels,
  promtool,
} from './exposed.ts'

/** Where the alerts say that the folder of the pages is: links of an Alertmanager have to be absolute. */
const RUNBOOKS = 'https://crosswalk.example.com/docs/'

/** The part of a page that the link of an alert leads to; undefined if it leads nowhere. */
function runbook(url: string): string | undefined {
  const [page = '', anchor] = url.replace(RUNBOOKS, 'docs/').split('#')
  if (!url.startsWith(`${RUNBOOKS}how-to/`) || !existsSync(page)) return undefined
  return readFileSync(page, 'utf8')
    .split(/^#+ /m)
    .find((part) => part.split('\n')[0]?.toLowerCase().replaceAll(' ', '-') === anchor)
}

let exposed: ReadonlySet<string>

beforeAll(async () => {
  exposed = await exposedMetrics()
})

const unknown = (expressions: readonly string[]) => expressions.flatMap(metricsIn).filter((name) => !exposed.has(name))
const expressionsOf = (panel: Panel) => (panel.targets ?? []).map(({ expr }) => expr)

describe('the alerts', () => {
  it('fire in the tests of promtool, and do not where all their metrics say that all is well', () => {
    const tests = alertTests()
    const told = tests.flatMap((test) => test.alert_rule_test ?? []).flatMap((one) => (one.exp_alerts?.length ? [one.alertname] : []))
    const samples = tests.flatMap((test) => test.promql_expr_test ?? []).flatMap((one) => one.exp_samples ?? [])
    const counted = samples.flatMap(({ labels }) => /alertname="(\w+)"/.exec(labels)?.[1] ?? [])
    expect([...new Set([...told, ...counted])].sort()).toEqual(
      alerts()
        .map(({ alert }) => alert)
        .sort(),
    )
    const calm = tests.find(({ name }) => name === 'all is well')?.input_series.flatMap(({ series }) => metricsIn(series)) ?? []
    expect(
      alerts()
        .flatMap(({ expr }) => metricsIn(expr))
        .filter((name) => !calm.includes(name)),
    ).toEqual([])
  })

  it('use only metrics that exist', () => {
    expect(unknown(alerts().map(({ expr }) => expr))).toEqual([])
  })

  it('link to the page of the proxy where it tells more, by a metric that exists', () => {
    const links = alerts().flatMap(({ annotations: { page_url: link } }) => link ?? [])
    expect(links.length).toBeGreaterThan(8)
    expect([...new Set(links.flatMap(metricsIn))]).toEqual(['crosswalk_page_info'])
    expect(unknown(links)).toEqual([])
  })

  it('state the event, its urgency, and the place of the instructions', () => {
    for (const { alert, labels, annotations } of alerts()) {
      expect(labels.severity, alert).toMatch(/^(page|ticket)$/)
      expect(annotations.summary, alert).toMatch(/\.$/)
      expect(annotations.description, alert).toMatch(/\.$/)
    }
  })

  it('tell the environments apart, which one Prometheus may watch together', () => {
    const sums = alerts().flatMap(({ expr }) => expr.match(/\b(?:sum|max|min|count)\b(?! by \(job[,)])[^(]*\(/g) ?? [])
    expect(sums).toEqual([])
    for (const { alert, annotations } of alerts()) {
      expect(annotations.summary + annotations.description, alert).toContain('$labels.job')
    }
  })

  it('are named where their links lead, and in the list of all', () => {
    const list = readFileSync('docs/how-to/alerts.md', 'utf8')
    for (const { alert, annotations } of alerts()) {
      expect(runbook(annotations.runbook_url), alert).toContain(alert)
      expect(list, alert).toContain(alert)
    }
  })
})

describe('the dashboard', () => {
  it('uses only metrics that exist, and all of them', () => {
    const expressions = panels().flatMap(expressionsOf)
    expect(unknown(expressions)).toEqual([])
    const shown = new Set(expressions.flatMap(metricsIn))
    expect([...exposed].filter((name) => !shown.has(name))).toEqual([])
  })

  it('draws changes of modes, circuits and rollouts across its panels', () => {
    expect(drawnEvents().map(({ name }) => name)).toEqual(['Modes', 'Circuits', 'Rollouts'])
    expect(drawnEvents().flatMap(({ expr }) => metricsIn(expr))).toEqual(Array(3).fill('crosswalk_notes_total'))
  })

  it('shows one environment, and all of its replicas or some', () => {
    const all = [...panels().flatMap(expressionsOf), ...drawnEvents().map(({ expr }) => expr)]
    const selectors = all.flatMap((expr) => expr.match(/\b(?:crosswalk|process)_\w+(?:\{[^}]*\})?/g) ?? [])
    expect(selectors.filter((selector) => !selector.includes('job="$job", instance=~"$instance"'))).toEqual([])
  })

  it('links to the page of the proxy that it shows', () => {
    const { links, templating } = dashboard()
    expect(links).toMatchObject([{ url: expect.stringMatching(/^\$\{page\}$/), targetBlank: true }])
    const variable = templating.list.find(({ name }) => name === 'page')
    expect(metricsIn(variable?.query?.query ?? '')).toEqual(['crosswalk_page_info'])
  })

  it('describes each panel', () => {
    for (const { title, type, description, targets } of panels().filter(({ type }) => type !== 'row')) {
      expect(description, title).toMatch(/\.$/)
      expect(targets, `${type} ${title}`).not.toEqual([])
    }
  })

  it('has panels with different ids, without overlap, on 24 columns', () => {
    const all = panels()
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length)
    const cells = all.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, at) => ({ x: x + (at % w), y: y + Math.floor(at / w) })),
    )
    expect(cells.filter(({ x }) => x > 23)).toEqual([])
    expect(new Set(cells.map(({ x, y }) => `${x} ${y}`)).size).toBe(cells.length)
  })
})

describe('the configuration of Prometheus', () => {
  const { scrape_configs: jobs, rule_files: rules } = parse(readFileSync('docker/prometheus.yaml', 'utf8'))

  it('has the one job that alerts and dashboard expect, and the alerts', () => {
    expect([jobs.map(({ job_name }: { job_name: string }) => job_name), rules]).toEqual([['crosswalk'], ['alerts.yaml']])
  })

  it('scrapes the admin port in the form that the port requires', async () => {
    const [{ authorization, metrics_path = '/metrics', static_configs: targets }] = jobs
    const proxy = await startStage({ v1: null, v2: 'http://127.0.0.1:1', proxy: { 'admin.readToken': 'the-token-that-reads' } })
    const ask = (headers: Record<string, string>) => fetch(proxy.adminUrl + metrics_path, { headers })
    expect((await ask({})).status).toBe(401)
    expect((await ask({ authorization: `${authorization.type} the-token-that-reads` })).status).toBe(200)
    expect(targets).toEqual([{ targets: [`127.0.0.1:${configWith({})['admin.port']}`] }])
  })
})

describe.runIf(hasPromtool())('promtool', () => {
  it('accepts the configuration', () => {
    expect(promtool('check', 'config', '--syntax-only', 'docker/prometheus.yaml')).toBe('')
  })

  it('accepts the alerts, which fire when they should', () => {
    expect(promtool('check', 'rules', 'docker/alerts.yaml')).toBe('')
    expect(promtool('test', 'rules', 'test/admin/alerts.yaml', 'test/admin/slow-alerts.yaml')).toBe('')
  })

  it('accepts every expression of the dashboard', () => {
    const folder = mkdtempSync(join(tmpdir(), 'crosswalk-dashboard-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const expressions = [...panels().flatMap(expressionsOf), ...drawnEvents().map(({ expr }) => expr)]
    const rules = expressions.map((expr, at) => ({
      record: `panel:${at}`,
      expr: expr.replaceAll('$__rate_interval', '5m').replaceAll('$job', 'crosswalk').replaceAll('$instance', '.*'),
    }))
    const file = join(folder, 'dashboard.yaml')
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }))
    expect(promtool('check', 'rules', file)).toBe('')
    expect(expressions.length).toBeGreaterThan(30)
  })
})
