import { readFileSync } from 'node:fs'
import GithubSlugger from 'github-slugger'
import { expect, it } from 'vitest'
import { errorsPage } from '../../docs/site/errors/errors-page.ts'
import { differences, grpcDifferences } from '../../mappings/differences.ts'
import { mappings } from '../../mappings/index.ts'
import { EVENT_TYPES, PING, WHOLE_TYPES } from '../../src/admin/notify.ts'
import { COMMANDS } from '../../src/app/cli/run.ts'
import { configSchema, configWith } from '../../src/app/config/config.ts'
import { WORKER_TOTALS } from '../../src/app/config/live.ts'
import { readFacts } from '../../src/grpc/facts.ts'
import { exposedText } from '../admin/exposed.ts'
import {
  alertsTable,
  costTable,
  differencesPage,
  eventsTable,
  methodRows,
  methodsPage,
  metricsPage,
  migrationPicture,
  prometheusRule,
  STAGES,
  settingsTables,
  withSection,
} from './generated.ts'

const ALERTS = new URL('../../docker/alerts.yaml', import.meta.url).pathname
const ALERT_PAGES = new URL('../../docs/how-to/alerts.md', import.meta.url).pathname
const CONFIGURATION = new URL('../../docs/reference/configuration.md', import.meta.url).pathname
const CORES = new URL('../../docs/how-to/many-cores.md', import.meta.url).pathname
const EVENTS = new URL('../../docs/reference/events.md', import.meta.url).pathname
const SECURITY = new URL('../../docs/why/security.md', import.meta.url).pathname

/** An outdated document fails here; `npm run docs` rewrites it. */
it('makes docs/reference/differences.md from the list of differences', async () => {
  await expect(differencesPage(differences, grpcDifferences, mappings)).toMatchFileSnapshot('../../docs/reference/differences.md')
})

it('makes docs/reference/grpc-methods.md from the facts of gRPC and the tables', async () => {
  await expect(methodsPage(methodRows(readFacts().v1, mappings))).toMatchFileSnapshot('../../docs/reference/grpc-methods.md')
})

it('makes the tables of docs/reference/configuration.md from the settings', async () => {
  const page = readFileSync(CONFIGURATION, 'utf8')
  await expect(withSection(page, 'settings', settingsTables())).toMatchFileSnapshot('../../docs/reference/configuration.md')
})

it('makes docs/configuration.schema.json from the settings', async () => {
  await expect(`${JSON.stringify(configSchema(), null, 2)}\n`).toMatchFileSnapshot('../../docs/configuration.schema.json')
})

it('names in docs/notification.schema.json every type of event and kind of note', async () => {
  const path = 'docs/notification.schema.json'
  const schema = JSON.parse(readFileSync(path, 'utf8'))
  schema.properties.type.enum = [...new Set([...Object.values(EVENT_TYPES), ...Object.values(WHOLE_TYPES)].map(({ type }) => type)), PING]
  schema.properties.data.properties.what.enum = [...Object.keys(EVENT_TYPES), 'ping']
  await expect(`${JSON.stringify(schema, null, 2)}\n`).toMatchFileSnapshot(`../../${path}`)
})

it('makes what the chart says of config from the settings', async () => {
  const path = 'docker/helm/crosswalk/values.schema.json'
  const chart = JSON.parse(readFileSync(path, 'utf8'))
  chart.properties.config = { ...(forHelm(configSchema()) as object), required: ['upstream', 'admin'] }
  await expect(`${JSON.stringify(chart, null, 2)}\n`).toMatchFileSnapshot(`../../${path}`)
})

/** Leaves out what people read, and patterns that look ahead, which Helm's Go does not know. */
function forHelm(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(forHelm)
  if (typeof schema !== 'object' || schema === null) return schema
  // A setting may have such a name too; its schema is an object.
  const isRead = (key: string, value: unknown) =>
    typeof value !== 'object' && (READ.has(key) || (key === 'pattern' && String(value).includes('(?!')))
  return Object.fromEntries(Object.entries(schema).flatMap(([key, value]) => (isRead(key, value) ? [] : [[key, forHelm(value)]])))
}

const READ: ReadonlySet<string> = new Set(['$schema', 'title', 'description', 'default'])

it('makes the list of totals of docs/how-to/many-cores.md from the settings', async () => {
  const list = WORKER_TOTALS.map((key) => `\`${key}\``).join(', ')
  await expect(withSection(readFileSync(CORES, 'utf8'), 'totals', `  ${list}.`)).toMatchFileSnapshot('../../docs/how-to/many-cores.md')
})

it('makes the table of docs/why/security.md from the settings', async () => {
  const page = withSection(readFileSync(SECURITY, 'utf8'), 'cost', costTable(configWith({})))
  await expect(page).toMatchFileSnapshot('../../docs/why/security.md')
})

it('makes docs/reference/errors.md from the table of errors', async () => {
  await expect(errorsPage()).toMatchFileSnapshot('../../docs/reference/errors.md')
})

it('makes the table of events of docs/reference/events.md from their types', async () => {
  await expect(withSection(readFileSync(EVENTS, 'utf8'), 'events', eventsTable())).toMatchFileSnapshot('../../docs/reference/events.md')
})

it('makes docs/reference/metrics.md from what a proxy exposes', async () => {
  await expect(metricsPage(await exposedText())).toMatchFileSnapshot('../../docs/reference/metrics.md')
})

it('makes the table of docs/how-to/alerts.md from the rules of Prometheus', async () => {
  const slugger = new GithubSlugger()
  const headingOf = (page: string, anchor: string) => {
    slugger.reset()
    const headings = [...readFileSync(`docs/how-to/${page}`, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading)
    return (
      headings.find((heading, nth) => (anchor === '' ? nth === 0 : slugger.slug(heading) === anchor)) ?? `no heading for ${page}#${anchor}`
    )
  }
  const table = alertsTable(readFileSync(ALERTS, 'utf8'), headingOf)
  expect(table).not.toContain('no heading for')
  await expect(withSection(readFileSync(ALERT_PAGES, 'utf8'), 'alerts', table)).toMatchFileSnapshot('../../docs/how-to/alerts.md')
})

it('makes the alerts of Kubernetes and of the Helm chart from those of Prometheus', async () => {
  await expect(readFileSync(ALERTS, 'utf8')).toMatchFileSnapshot('../../docker/helm/crosswalk/files/alerts.yaml')
  await expect(prometheusRule(readFileSync(ALERTS, 'utf8'))).toMatchFileSnapshot('../../docker/kubernetes/monitoring/prometheusrule.yaml')
})

it('makes docs/images/migration.svg from what the modes do, and names commands and flags that exist in it', async () => {
  await expect(migrationPicture()).toMatchFileSnapshot('../../docs/images/migration.svg')
  for (const { command } of STAGES) {
    const [name = '', ...flags] = command.split(' ')
    const known = await COMMANDS[name]?.()
    expect(known, name).toBeDefined()
    for (const flag of flags) expect(Object.keys(known?.flags ?? {}), name).toContain(flag.replace('--', ''))
  }
})
