import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import axe from 'axe-core'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { onTestFinished } from 'vitest'
import { differences } from '../../mappings/differences.ts'
import { mappings } from '../../mappings/index.ts'
import { describeWith } from '../../src/admin/report/difference.ts'
import type { InForce } from '../../src/admin/report/history.ts'
import { type ReadSources, type Report, type ReportFleet, readReport } from '../../src/admin/report/report.ts'
import { type PageAssets, pageOf } from '../../src/admin/report-page.ts'
import type { Config } from '../../src/app/config/settings.ts'
import type { ComparisonOutcome } from '../../src/migrate/compare/judge.ts'
import type { Comparison, Entry, Example, Note, TrafficEntry, WouldSend } from '../../src/migrate/records/record.ts'
import type { RolloutStatus } from '../../src/migrate/rollout/machine.ts'
import { seeded } from '../stage/clocks.ts'
import { startStage } from '../stage/stage.ts'

/** 2026-03-01T08:00:00Z */
export const START = Date.UTC(2026, 2, 1, 8)
export const HOUR = 3_600_000

const iso = (at: number) => new Date(at).toISOString()

/** A comparison of `registry.repos.list` that matched, with these members replaced. */
export function comparison(nth: number, members: Partial<Comparison> = {}): Comparison {
  return {
    kind: 'comparison',
    id: `c${nth}`,
    at: iso(START + nth * 1_000),
    operation: 'registry.repos.list',
    mode: 'diff-v1',
    caller: nth.toString(16).padStart(16, '0'),
    shape: 'registry.repos.list?uidp.children_of=child',
    check: 'read',
    outcome: 'match',
    totals: [],
    examples: [],
    v1: { status: 200, ms: 12 },
    v2: { status: 200, ms: 20 },
    ...members,
  }
}

/** The members with which a comparison shows one difference. */
export function shows(example: Example, count = 1): Pick<Comparison, 'totals' | 'examples'> {
  const { kind, where, code, noise } = example
  return { totals: [{ kind, where, count, ...(code !== undefined && { code }), ...(noise && { noise }) }], examples: [example] }
}

export function traffic(caller: string, operation: string, calls: number, at = START, mode = 'diff-v1'): TrafficEntry {
  return { kind: 'traffic', caller, operation, calls, mode, at: iso(at) }
}

export function note(at: number, what: Note['what'], text: string, operation?: string): Note {
  return { kind: 'note', at: iso(at), what, text, ...(operation !== undefined && { operation }) }
}

const UID = '588391a69873a06cb99a4ed5a59102644f751ea4/00df03e05eba2b78'

const DIFFERENCES: Readonly<Record<string, Example>> = {
  'registry.repos.list': { kind: 'value', at: '/items/3/catalog_tier', where: '/items/*/catalog_tier', v1: 'APPLICATION', v2: 'BASE' },
  'iam.roles.list': {
    kind: 'missing',
    at: '/items/2',
    where: '/items/*',
    v1: { id: UID, name: 'text-6-81f0aa21', capabilities: ['repo.list', 'tag.list', 'group.list'], created_at: '2026-02-10T09:00:00.000Z' },
  },
}

const NOISE: Example = {
  kind: 'value',
  at: '/items/0/last_seen',
  where: '/items/*/last_seen',
  noise: true,
  v1: '2026-03-01T08:00:00Z',
  v2: '2026-03-01T08:00:02Z',
}

const DECLARED: Example = {
  kind: 'value',
  at: '/details',
  where: '/details',
  code: 'error-details',
  v1: [],
  v2: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'PERMISSION_DENIED', domain: 'iam.chainguard.dev' }],
}

/** Operations with their shares of the traffic and of wrong answers. */
const PLAN: readonly (readonly [operation: string, share: number, wrong: number])[] = [
  ['registry.tags.list', 0.42, 0],
  ['registry.repos.list', 0.22, 0.02],
  ['iam.groups.list', 0.2, 0],
  ['iam.roles.list', 0.06, 0.004],
  ['iam.role_bindings.list', 0.05, 0],
  ['registry.images.architectures', 0.03, 0.05],
  ['registry.eol_tags.list', 0.02, 0],
]

function wrongOf(operation: string): Partial<Comparison> {
  const example = DIFFERENCES[operation]
  if (example) return { outcome: 'mismatch', ...shows(example) }
  return { outcome: 'error', reason: 'v2 answered HTTP 503 where v1 answered 200', v2: { status: 503, code: 14, ms: 31 } }
}

function otherwise(random: () => number): Partial<Comparison> {
  const dice = random()
  if (dice < 0.03) return { outcome: 'expected', v1: { status: 403, code: 7 }, v2: { status: 403, code: 7 }, ...shows(DECLARED) }
  if (dice < 0.05) return { outcome: 'noise', ...shows(NOISE) }
  if (dice < 0.06)
    return {
      outcome: 'race',
      reason: 'v1 changed between the two answers',
      ...shows({ kind: 'extra', at: '/items/9', where: '/items/*', v2: { id: UID } }),
    }
  return dice < 0.064 ? { outcome: 'inconclusive' as ComparisonOutcome, reason: 'v1 itself answered HTTP 500' } : {}
}

/** A week of `length` comparisons of several operations and clients, with mode changes; repeatable by the seed. */
export function week(length: number, seed = 1): readonly Entry[] {
  const random = seeded(seed)
  const span = 7 * 24 * HOUR
  const timed = Array.from({ length }, (_, nth) => START + (span * (nth + random())) / length)
  const comparisons = timed.map((at, nth): Entry => {
    const dice = random()
    const [operation, , rate] = PLAN.find((_, row) => PLAN.slice(0, row + 1).reduce((sum, [, share]) => sum + share, 0) > dice) ?? PLAN[0]!
    const mended = at > START + 5 * 24 * HOUR && operation === 'registry.images.architectures'
    const members = !mended && random() < rate ? wrongOf(operation) : otherwise(random)
    const shape = `${operation}?limit=${random() < 0.5 ? 'small' : 'large'}&uidp.children_of=child`
    const ms = 8 + 30 * random() ** 3
    return comparison(nth, {
      at: iso(at),
      operation,
      shape,
      caller: Math.floor(random() * 4_000)
        .toString(16)
        .padStart(16, 'c'),
      v1: { status: 200, ms },
      v2: { status: 200, ms: ms * 1.3 + 4 * random() },
      ...members,
    })
  })
  return [...comparisons, ...surroundings(random, length)].sort((a, b) => Date.parse(a.at) - Date.parse(b.at))
}

function surroundings(random: () => number, length: number): readonly Entry[] {
  const day = 24 * HOUR
  const use = Array.from({ length: 40 }, (_, nth) => {
    const [operation = ''] = nth % 7 === 3 ? ['registry.vuln_reports.list'] : (PLAN[nth % PLAN.length] ?? [])
    return traffic(`client-${nth}`, operation, Math.ceil((length / 20) * random()), START + nth * HOUR)
  })
  const wouldSend: WouldSend = {
    kind: 'would-send',
    caller: 'client-1',
    at: iso(START + day),
    operation: 'registry.repos.update',
    mode: 'diff-v1',
    shape: 'registry.repos.update?.description=text',
    call: { method: 'PATCH', path: `/registry/v2/repos/${UID}`, query: [['updateMask', '*']], body: { description: 'text-12-9be1a5c7' } },
  }
  return [
    ...use,
    wouldSend,
    traffic('client-1', 'registry.repos.update', 1, START + day),
    note(START, 'restart', 'Crosswalk started.'),
    note(START + HOUR, 'modes', 'Default mode diff-v1.'),
    note(
      START + 2.5 * day,
      'circuit',
      'errors: 3 of 22 answers in 60 s, more than the 5 % that are allowed',
      'registry.images.architectures',
    ),
    note(START + 5 * day, 'modes', 'registry.tags.*: 10 % of clients v2.'),
    note(START + 6 * day, 'modes', 'registry.tags.*: v2.'),
  ]
}

export function lines(entries: readonly Entry[]): string {
  return entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')
}

export const sources: ReadSources = {
  operations: mappings.flatMap((mapping) => mapping.operations),
  declarations: differences,
  describe: describeWith(differences),
  target: 0.001,
  now: START + 8 * 24 * HOUR,
}

/** Creates a folder that is deleted after the test. */
export async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'report-'))
  onTestFinished(() => rm(path, { recursive: true }))
  return path
}

/** Starts a proxy that compares everything, with the sandbox as v1 and v2. It is stopped after the test. */
export async function proxy(settings: Partial<Config> = {}) {
  const stage = await startStage({ mode: 'diff-v1', proxy: { 'log.level': 'silent', ...settings } })
  return {
    stage,
    adminUrl: stage.adminUrl,
    /** Sends reads, and waits until they are compared. */
    async ask(...paths: readonly string[]) {
      for (const path of paths) await stage.request('GET', path)
      await stage.idle()
    },
  }
}

/** Returns the report of these entries. */
export async function reportOf(entries: readonly Entry[], members: Partial<ReadSources> = {}): Promise<Report> {
  const path = join(await folder(), 'records.ndjson')
  await writeFile(path, lines(entries))
  return readReport([path], { ...sources, ...members })
}

const CHROMIUM = '/usr/bin/chromium'

/** False, with a printed reason, if there is no browser. */
export function hasChromium(): boolean {
  if (existsSync(CHROMIUM)) return true
  console.warn('SKIPPED: chromium is not installed')
  return false
}

export function openBrowser(...args: readonly string[]): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', ...args] })
}

/** An opened page, and everything that it should not have done. */
export interface Opened {
  readonly page: Page
  /** Console messages and errors. */
  readonly said: readonly string[]
  /** Addresses that it requested, besides its own. */
  readonly asked: readonly string[]
}

/** Opens an address. The page is closed after the test. */
export async function open(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Opened> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options })
  onTestFinished(() => context.close())
  const page = await context.newPage()
  const [said, asked]: [string[], string[]] = [[], []]
  page.on('console', (message) => said.push(message.text()))
  page.on('pageerror', (error) => said.push(String(error)))
  page.on('request', (request) => {
    if (request.url() !== url && !request.url().startsWith('data:')) asked.push(request.url())
  })
  await page.goto(url)
  return { page, said, asked }
}

/** Opens the report as a file. */
export async function openFile(browser: Browser, report: Report, assets: PageAssets, options?: BrowserContextOptions): Promise<Opened> {
  const path = join(await folder(), 'report.html')
  await writeFile(path, pageOf(report, assets).html)
  return open(browser, pathToFileURL(path).href, options)
}

/** Opens a view of the page by its address. */
export function goTo(page: Page, route: string): Promise<unknown> {
  return page.evaluate(`location.hash = ${JSON.stringify(route)}`)
}

/** Returns what axe finds in a page by these rules, or by all of them. */
export async function findingsIn(page: Page, runOnly?: readonly string[]): Promise<readonly string[]> {
  await page.evaluate(axe.source)
  return page.evaluate(async (rules): Promise<readonly string[]> => {
    // biome-ignore lint/suspicious/noExplicitAny: axe is in the page, where nothing knows its types
    const { violations } = await (globalThis as any).axe.run(rules ? { runOnly: rules } : {})
    return violations.map(({ id, nodes }: { id: string; nodes: { html: string }[] }) => `${id}: ${nodes[0]?.html}`)
  }, runOnly)
}

/** The rules of axe that a narrow screen and another theme can break. */
export const OF_LOOKS = ['color-contrast', 'scrollable-region-focusable', 'target-size', 'link-in-text-block']

const ORGANIZATION = '588391a69873a06cb99a4ed5a59102644f751ea4'
const id = (nth: number) => `${ORGANIZATION}/${nth.toString(16).padStart(16, '0')}`
const rows = (...numbers: readonly number[]) => numbers.map((nth) => ({ id: id(nth), name: `text-6-0000000${nth}` }))

/** Differences of each kind, as records have them. */
export const EXAMPLES: readonly Example[] = [
  {
    kind: 'value',
    at: '/items/3/catalog_tier',
    where: '/items/*/catalog_tier',
    v1: 'APPLICATION',
    v2: 'BASE',
    row: id(3),
    around: {
      at: '/items/3',
      path: ['catalog_tier'],
      v1: { id: id(3), name: 'text-6-81f0aa21', bundles: ['application'], catalog_tier: 'APPLICATION', '…': '4 more' },
      v2: { id: id(3), name: 'text-6-81f0aa21', bundles: [], catalog_tier: 'BASE', '…': '4 more' },
    },
  },
  {
    kind: 'missing',
    at: '/items/2',
    where: '/items/*',
    v1: { id: id(3), name: 'text-6-00000003', description: '' },
    row: id(3),
    around: { at: '/items', v1: rows(2, 3, 4), v2: rows(2, 4), rows: { v1: { from: 1, of: 7, at: 2 }, v2: { from: 1, of: 6 } } },
  },
  {
    kind: 'order',
    at: '/items',
    where: '/items',
    v1: id(1),
    v2: id(2),
    around: { at: '/items', v1: rows(1, 2, 3), v2: rows(2, 3, 1), rows: { v1: { from: 0, of: 3, at: 0 }, v2: { from: 0, of: 3, at: 2 } } },
  },
]

/** One mismatch of these kinds each hour by one caller: of each kind, all are equal. */
export function repeated(hours: number): readonly Comparison[] {
  return Array.from({ length: hours }, (_, nth) => {
    const shown = EXAMPLES.map((example) => shows(example))
    return comparison(nth, {
      at: new Date(START + nth * HOUR).toISOString(),
      outcome: 'mismatch',
      caller: 'one-caller',
      request: { method: 'GET', url: `/registry/v1/repos?uidp.children_of=${ORGANIZATION}&limit=${nth + 1}` },
      totals: shown.flatMap(({ totals }) => totals),
      examples: shown.flatMap(({ examples }) => examples),
    })
  })
}

/** A read that v2 failed, with both answers. */
export const FAILED: Comparison = comparison(1, {
  outcome: 'error',
  reason: 'v2 answered HTTP 503 where v1 answered 200',
  request: { method: 'GET', url: '/iam/v1/roles' },
  operation: 'iam.roles.list',
  v2: { status: 503, code: 14, ms: 31 },
  answers: {
    at: '',
    v1: { items: [{ id: ORGANIZATION, name: 'text-6-5e655bf9' }, '… 31 more'] },
    v2: { code: 14, message: 'text-17-21a17a3c', details: [] },
  },
})

/** What a proxy in mode diff-v1 says of itself, with these members replaced. */
export function inForce(members: Partial<InForce> = {}): InForce {
  return {
    ...{ rules: { default: 'diff-v1', rules: [], testers: [] }, version: 1, tag: 'a-1', by: { source: 'start' }, at: 0 },
    ...{ startedAt: 0, rollouts: [], circuits: {}, v1First: [], hasV1: true },
    ...members,
  }
}

/** Three replicas, of which one is silent and behind. */
export const FLEET: ReportFleet = {
  problems: [
    'Replica pod-c-3 has not handed over what it knows; it was last heard from 12.0 s ago.',
    'Replica pod-c-3 had no room for 2 bad observations while the store did not answer; begin a new epoch.',
  ],
  busy: [],
  epoch: { nth: 1, tables: 'aa', at: '2026-03-01T08:00:00.000Z', build: 'v2.7' },
  replicas: [
    { id: 'pod-a-1', isSelf: true, isLeader: false, since: 0, version: 7, behind: 0, waiting: 0, dropped: 0, lost: 0 },
    { id: 'pod-b-2', isSelf: false, isLeader: true, since: 0, version: 7, behind: 0, waiting: 12, dropped: 0, lost: 0 },
    { id: 'pod-c-3', isSelf: false, isLeader: false, since: 0, version: 6, behind: 1, silentSeconds: 12, waiting: 3, dropped: 40, lost: 2 },
  ],
  unread: [{ id: 'pod-d-4' }],
}

export const ROLLOUT: RolloutStatus = {
  ...{
    name: 'iam',
    operations: ['iam.*'],
    reach: ['iam.groups.list'],
    phase: 'running',
    step: 2,
    steps: 5,
    percent: 20,
    since: 0,
    reason: 'It waits for observations.',
  },
  ...{ retriesLeft: 2, heldMs: 60_000, wantedMs: 3_600_000, observed: 12, wanted: 100 },
}
