import { parse, stringify } from 'yaml'
import type { GrpcDifference } from '../../mappings/differences.ts'
import { EVENT_TYPES, notificationOf, PING, pingOf, WHOLE_TYPES } from '../../src/admin/notify.ts'
import { whyRestart } from '../../src/app/config/live.ts'
import {
  type Config,
  defaultOf,
  envOf,
  keysIn,
  SECTIONS,
  SETTING_KEYS,
  SETTINGS,
  type Section,
  type SettingKey,
} from '../../src/app/config/settings.ts'
import { type Facts, isOfBoth, readFacts, routeOf, ruleOf } from '../../src/grpc/facts.ts'
import { openRpc } from '../../src/grpc/proto-files.ts'
import { COMPARING, type Mode, SERVED_BY } from '../../src/serve/sides.ts'
import { covers, type Mapping, type Operation, type OperationKind } from '../../src/tables/operation.ts'
import { describeSign } from '../../src/tables/signs.ts'
import type { DeclaredDifference } from '../../src/tables/tables.ts'
import { SAMPLES } from '../admin/notes.ts'

export const KIBIBYTE = 1024
export const MEBIBYTE = 1024 * KIBIBYTE

/** 1,000 for 1000. */
export function count(number: number): string {
  return String(number).replace(/(?<=\d)(?=(?:\d{3})+$)/g, ',')
}

/** 64 KiB for 65536, to the nearest whole one. */
export function inBytes(bytes: number): string {
  return bytes < MEBIBYTE ? `${count(Math.round(bytes / KIBIBYTE))} KiB` : `${count(Math.round(bytes / MEBIBYTE))} MiB`
}

/** 10 s for 10000 milliseconds. */
export function inTime(ms: number): string {
  return `${count(ms / 1000)} s`
}

const KINDS: readonly OperationKind[] = ['direct', 'composed', 'emulated', 'v1-only']

/** The legend of the table: the kinds and the emulated operations. */
function legend(operations: readonly Operation[]): string {
  const emulated = operations.filter(({ kind }) => kind === 'emulated').map(({ id }) => `\`${id}\``)
  return `*direct*: one v2 operation carries the answer. *composed*: several do. *v1-only*: nothing in v2 does. *emulated*: v2 data yields it, fully or in part: ${emulated.join(', ')}.`
}

/** The number of operations of each kind, by domain and in total, as Markdown. */
export function coverageTable(mappings: readonly Mapping[]): string {
  const all = { domain: '**all**', operations: mappings.flatMap(({ operations }) => operations) }
  const alone = mappings.filter(({ operations }) => operations.every(({ kind }) => kind === 'v1-only'))
  const others = { domain: alone.map(({ domain }) => domain).join(', '), operations: alone.flatMap(({ operations }) => operations) }
  const rows = [...mappings.filter((mapping) => !alone.includes(mapping)), others, all].map(({ domain, operations }) => {
    const counts = KINDS.map((kind) => operations.filter((operation) => operation.kind === kind).length)
    return `| ${[domain, operations.length, ...counts].join(' | ')} |`
  })
  return [
    `| Domain | Operations | ${KINDS.join(' | ')} |`,
    `|---|${'---:|'.repeat(KINDS.length + 1)}`,
    ...rows,
    '',
    legend(all.operations),
  ].join('\n')
}

/** Replaces the content between the two markers of a section. */
export function withSection(text: string, name: string, content: string): string {
  const [start, end] = [`<!-- ${name}:start -->`, `<!-- ${name}:end -->`]
  const [before, rest] = text.split(start)
  const after = rest?.split(end)[1]
  if (before === undefined || after === undefined) throw new Error(`the text has no section between ${start} and ${end}`)
  return `${before}${start}\n${content}\n${end}${after}`
}

const HEAD = `# What a v1 client can see differently

Crosswalk answers v1 requests from v2. This page lists every difference that a client can see between these answers and those of a genuine v1 service.
Anything that is not listed behaves alike. \`crosswalk operations\` and \`crosswalk explain\` show the codes of the differences beside the operations. The [glossary](../glossary.md) explains the words.
A case of the contract suite (\`test/contract\`) shows each difference on both sides. The suite fails if a difference stops occurring, and if one occurs that is not listed.

*Holds over* names the protocols. gRPC-Web and Connect carry the same messages as gRPC, and what holds over gRPC holds over them.

\`npm run docs\` makes this page from [\`mappings/differences.ts\`](../../mappings/differences.ts).
`

/** The page of all differences as Markdown: what is served at all, and one section for each code. */
export function differencesPage(
  differences: readonly DeclaredDifference[],
  overGrpc: readonly GrpcDifference[],
  mappings: readonly Mapping[],
): string {
  const operations = mappings.flatMap((mapping) => mapping.operations)
  const ids = operations.map(({ id }) => id)
  const methods = new Set(openRpc(operations, readFacts()).methods.flatMap(({ operation }) => operation?.id ?? []))
  const index = differences.map((one) => {
    const covered = coveredBy(one.operations, ids)
    return `| [\`${one.code}\`](#${one.code}) | ${covered.length} | ${holdsOver(one, covered, methods)} |`
  })
  const table = ['| Code | Operations | Holds over |', '|---|---|---|', ...index].join('\n')
  const coverage = `## Coverage\n\n${coverageTable(mappings)}`
  return [HEAD, coverage, '## Differences', table, ...differences.map((one) => section(one, ids)), grpcSection(overGrpc)]
    .join('\n\n')
    .concat('\n')
    .replace(/\n{3,}/g, '\n\n')
}

/** The protocols over which a client can meet a difference: gRPC if one of its operations has a method. */
function holdsOver({ overGrpc }: DeclaredDifference, covered: readonly string[], methods: ReadonlySet<string>): string {
  const known = covered.filter((id) => methods.has(id))
  if (known.length === 0) return 'REST'
  if (overGrpc !== undefined) return 'REST; gRPC in another form'
  return known.length === covered.length ? 'both' : `both (gRPC: ${known.length} of them)`
}

function grpcSection(rows: readonly GrpcDifference[]): string {
  return ['## Over gRPC alone\n', ...rows.map(({ seen, because }) => `- ${seen} ${because}`)].join('\n')
}

function section({ code, seen, because, overGrpc, operations, test, signs = [] }: DeclaredDifference, ids: readonly string[]): string {
  const covered = coveredBy(operations, ids)
  const listed = covered.length === ids.length ? `every one of the ${ids.length}` : covered.map((id) => `\`${id}\``).join(', ')
  return `## ${code}\n\n${seen}\n\n- Why: ${because}${overGrpc === undefined ? '' : `\n- Over gRPC: ${overGrpc}`}\n- Operations: ${listed}\n- Pinned by: ${test}${expected(signs)}`
}

/** What comparisons of v1 and v2 explain by a difference. A difference in writes or words alone has no such list. */
function expected(signs: NonNullable<DeclaredDifference['signs']>): string {
  if (signs.length === 0) return ''
  return ['\n- What a comparison expects, and nothing else:', ...signs.map((sign) => `  - ${describeSign(sign)}`)].join('\n')
}

function coveredBy(patterns: readonly string[], ids: readonly string[]): readonly string[] {
  return ids.filter((id) => patterns.some((pattern) => covers(pattern, id)))
}

const [AT, SOURCE] = ['2026-11-24T14:05:00.000Z', 'urn:crosswalk:eu-1']
const MEANS = new Map([...Object.values(EVENT_TYPES), ...Object.values(WHOLE_TYPES)].map(({ type, means }) => [type, means]))

/** Every type of event with an example, as Markdown, and one event as it is sent. */
export function eventsTable(): string {
  const events = SAMPLES.map((note, nth) => notificationOf({ kind: 'note', id: `${nth}`, at: AT, ...note }, SOURCE))
  const rows = [...events, pingOf('', AT, SOURCE)].map(({ type, subject, data }) => {
    const means = type === PING ? 'A person tries the receiver: `POST /notify/test`' : MEANS.get(type)
    return `| \`${type}\` | ${means} | ${subject === undefined ? '–' : `\`${subject}\``} | \`${JSON.stringify(data)}\` |`
  })
  const [first] = events
  const whole = { ...first, id: '6f1b0e0e-6f0c-4a39-9d6c-2f6d7f1f3f5a' }
  return [
    '```js',
    JSON.stringify(whole, null, 2),
    '```',
    '',
    '| Type | Sent when | Subject | Example of `data` |',
    '|---|---|---|---|',
    ...rows,
  ].join('\n')
}

/** What becomes of the calls of a method. */
export type Fate = 'served' | 'passed on to v1' | 'passed on to v2'

/** A method of the published protos of v1. */
export interface MethodRow {
  /** `chainguard.platform.iam.Groups/List` */
  readonly name: string
  readonly fate: Fate
  /** The operation of the REST request that says the same. */
  readonly operation: string | undefined
}

/** The services that both versions publish under one name. Their methods are those of v2. */
const OF_BOTH = [
  'chainguard.platform.oidc.SecurityTokenService/Exchange',
  'chainguard.platform.oidc.SecurityTokenService/ExchangeRefreshToken',
]

/** Returns every method of the published protos of v1, in the order of their names. */
export function methodRows({ services }: Facts, mappings: readonly Mapping[]): readonly MethodRow[] {
  const operations = new Map(mappings.flatMap((mapping) => mapping.operations).map((one) => [routeOf(one), one]))
  const rows = Object.entries(services).flatMap(([service, methods]) =>
    Object.entries(methods).map(([name, { http }]): MethodRow => {
      const rule = ruleOf(http)
      const operation = rule && operations.get(routeOf(rule))
      return { name: `${service}/${name}`, fate: rule && isOfBoth(rule) ? 'passed on to v2' : fateOf(operation), operation: operation?.id }
    }),
  )
  const ofBoth = OF_BOTH.map((name): MethodRow => ({ name, fate: 'passed on to v2', operation: undefined }))
  return [...rows, ...ofBoth].sort((a, b) => (a.name < b.name ? -1 : 1))
}

function fateOf(operation: Operation | undefined): Fate {
  return operation && operation.kind !== 'v1-only' ? 'served' : 'passed on to v1'
}

/** Returns the page of all methods. */
export function methodsPage(rows: readonly MethodRow[]): string {
  const counts = new Map<Fate, number>()
  for (const { fate } of rows) counts.set(fate, (counts.get(fate) ?? 0) + 1)
  const lines = rows.map(({ name, fate, operation }) => `| \`${name}\` | ${fate} | ${operation === undefined ? '–' : `\`${operation}\``} |`)
  return `# What becomes of each gRPC method of v1

The published protos of v1 have ${rows.length} methods. This page says where a call of each goes, over gRPC, gRPC-Web and Connect alike.
\`npm run docs\` makes it from the facts of gRPC (\`mappings/grpc\`) and the tables.

- **served** (${counts.get('served')}): as the REST request of its http rule, from v2, or from v1 where a [mode](modes.md) gives it to v1.
- **passed on to v1** (${counts.get('passed on to v1')}): to \`upstream.v1\`, in every mode. Without it the call ends with code 12 (UNIMPLEMENTED) in the form of its protocol, and the sentence of REST: what needs a v1 service, and why.
- **passed on to v2** (${counts.get('passed on to v2')}): to \`upstream.v2\`, which publishes the same method.

| Method | Call | Operation |
|---|---|---|
${lines.join('\n')}
`
}

/** What to do when a metric moves, by its name. The others say it in their help. */
const MOVES: Readonly<Record<string, string>> = {
  crosswalk_requests_total:
    '`failed` rises: [requests fail](../how-to/requests-fail.md#requests-fail). `cancelled` rises: clients give up before v2 answers',
  crosswalk_request_duration_seconds: '[requests are slow](../how-to/overload.md#requests-are-slow)',
  crosswalk_requests_in_flight: 'close to `limits.requestsInFlight`: [overload](../how-to/overload.md#overload)',
  crosswalk_refused_total: '[overload](../how-to/overload.md#overload)',
  crosswalk_cut_total: 'rises: slow networks, or clients that hold places on purpose. See `limits.bodyTimeoutMs`, `limits.writeTimeoutMs`',
  crosswalk_unrelayable_total:
    'above 0: the service, or a balancer in front of it, writes heads that HTTP does not allow. The `cause` in the log says which',
  crosswalk_web_sockets: 'close to `limits.webSockets`: further handshakes get 503',
  crosswalk_upstream_up: '0: [v2 is down](../how-to/requests-fail.md#v2-is-down)',
  crosswalk_clock_ahead_seconds:
    'beyond 60 or -60: tokens, signatures and dates of removal go wrong. Look at the time service of both machines',
  crosswalk_v2_calls_total: 'rises without more requests: longer lists, or kept answers that expire sooner',
  crosswalk_v2_call_duration_seconds: '`unanswered` rises: [v2 is down](../how-to/requests-fail.md#v2-is-down)',
  crosswalk_parsed_pages_total: "rises: v2's answers look different than before. They are still correct, but slower",
  crosswalk_unknown_parameters_total: 'rises: a client misspells, or asks for something that v1 never had. The log names it',
  crosswalk_grpc_calls_total: '[gRPC calls fail](../how-to/grpc-calls-fail.md)',
  crosswalk_pool: '`queued` above 0: too few connections (`upstream.connections`)',
  crosswalk_comparisons_total:
    '`mismatch`, `transient`: [v1 and v2 differ](../how-to/difference.md#v1-and-v2-differ). `error`, `inconclusive`: a side did not answer',
  crosswalk_uses_total:
    '`wrong`: [v1 and v2 differ](../how-to/difference.md#v1-and-v2-differ). `unknown` and `alone`: `cutover --accounts` says why',
  crosswalk_comparison_jobs_total: '`failed`: a defect of Crosswalk, see the log. `dropped`: less evidence',
  crosswalk_circuit_open: '1: [v1 and v2 differ](../how-to/difference.md#v1-and-v2-differ)',
  crosswalk_evidence_bound:
    'falls with clean [observations](../why/evidence.md#what-counts), rises with wrong ones. `GET /evidence` has the bound of all replicas',
  crosswalk_evidence_needed: 'stands still: no new kinds of requests come',
  crosswalk_cutover_bound: 'at most `target`: [are we done?](../how-to/are-we-done.md) `whole` in `GET /evidence` is of all replicas',
  crosswalk_cutover_days: 'absent: an operation is not compared, or its pace is not known yet',
  crosswalk_canary_share: '0 while the circuit is open. Follows a [rollout](modes.md#rollouts)',
  crosswalk_rollout_phase: '`paused`, `turned-back`: [the reason](../how-to/rollout.md#a-rollout-does-not-go-on)',
  crosswalk_modes_version: 'grows: [who changed the modes](../how-to/go-back.md#who-changed-the-modes)',
  crosswalk_modes_drift: 'stays 1: write the rules into the [file](../how-to/go-back.md#for-good), or they are lost',
  crosswalk_fallbacks_total: '[v2 is down](../how-to/requests-fail.md#v2-is-down)',
  crosswalk_notifications_total: '`failed` or `dropped` rises: [events are lost](../how-to/notifications.md#events-are-lost)',
  crosswalk_store_up: '0: [the store is down](../how-to/store-down.md)',
  crosswalk_store_silent_seconds: 'above 5: [the store is down](../how-to/store-down.md)',
  crosswalk_store_foreign_key: 'it is there: [delete or rename the key](../how-to/store-down.md)',
  crosswalk_store_dropped_total: '`bad` above 0: `cutover` stays inconclusive in this epoch',
  crosswalk_store_exchange_duration_seconds: 'above 0.1 s: the store is slow',
  crosswalk_replicas: 'fewer than there are: [a replica is missing](../how-to/store-down.md#a-replica-is-missing)',
  crosswalk_records_dropped_total: 'rises: [the disk is full](../how-to/overload.md#the-disk-is-full)',
  crosswalk_certificate_expiry_seconds: '[the certificate is wrong](../how-to/tls.md#the-certificate-is-wrong)',
  crosswalk_event_loop_utilization: 'above 0.85: [overload](../how-to/overload.md#overload)',
  crosswalk_worker_event_loop_utilization: 'one is far above the others: few long connections carry the load',
  crosswalk_worker_deaths_total: 'rises: the log says how each ended',
  process_resident_memory_bytes: '[memory](../how-to/overload.md#memory-or-files-run-out)',
  process_open_fds: 'close to `process_max_fds`: [files](../how-to/overload.md#memory-or-files-run-out)',
}

const METRICS_PAGE_HEAD = `# Metrics

\`GET /metrics\` on the admin port answers in the format of Prometheus. The number of label values does not depend on what clients send.
[Alerts and a dashboard](../how-to/alerts.md) use them, and they can be [sent by OTLP](telemetry.md#metrics-by-otlp). Metrics of the store, workers and TLS are there only with these. The [glossary](../glossary.md) explains the words.

\`npm run docs\` makes this page from what a proxy exposes.

| Metric | Type | Means | When it moves |
|---|---|---|---|`

/** The page of all metrics, from what a proxy answers in the text format of Prometheus. */
export function metricsPage(exposed: string): string {
  const types = new Map([...exposed.matchAll(/^# TYPE (\S+) (\S+)/gm)].map(([, name = '', type = '']) => [name, type]))
  const helps = new Map([...exposed.matchAll(/^# HELP (\S+) (.+)/gm)].map(([, name = '', help = '']) => [name, help]))
  const strays = Object.keys(MOVES).filter((name) => !types.has(name))
  if (strays.length > 0) throw new Error(`no metric is called ${strays.join(', ')}`)
  const rows = [...types].map(
    ([name, type]) => `| \`${name}\` | ${type} | ${(helps.get(name) ?? '').replaceAll('|', '\\|')} | ${MOVES[name] ?? '–'} |`,
  )
  return `${[METRICS_PAGE_HEAD, ...rows].join('\n')}\n`
}

/** A stage of a migration, as the picture shows it. */
export interface Stage {
  readonly title: string
  /** The mode of the clients that have not moved; absent before there is traffic. */
  readonly mode?: Mode
  /** The mode of a share that grows to all clients. */
  readonly share?: Mode
  /** The command that says whether to go on, without `crosswalk`. */
  readonly command: string
}

export const STAGES: readonly Stage[] = [
  { title: 'Rehearse', command: 'replay' },
  { title: 'Shadow', mode: 'diff-v1', command: 'status' },
  { title: 'Rollout', mode: 'diff-v1', share: 'diff-v2', command: 'rollouts' },
  { title: 'v2, checked', mode: 'diff-v2', command: 'cutover' },
  { title: 'v2 alone', mode: 'v2', command: 'cutover --without-v1' },
]

const [WIDTH, BOX, STEP, LEFT] = [860, 148, 173, 10] as const

const STYLE = `
    text { font: 15px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #1f2328 }
    .back { fill: #ffffff }
    .small { font-size: 13px; fill: #57606a }
    .code { font: 12px ui-monospace, "Liberation Mono", monospace }
    .strong { font-weight: 600 }
    .box { fill: #ffffff; stroke: #8c959f; stroke-width: 1.5 }
    .v1 { fill: #eaeef2 }
    .v2 { fill: #ddf4ff }
    path { fill: none; stroke: #57606a; stroke-width: 1.6 }
    .head { fill: #57606a; stroke: none }
    @media (prefers-color-scheme: dark) {
      .back { fill: #0d1117 }
      text { fill: #e6edf3 }
      .small { fill: #9da7b3 }
      .box { fill: #161b22; stroke: #6e7681 }
      .v1 { fill: #30363d }
      .v2 { fill: #0c2d6b }
      path { stroke: #9da7b3 }
      .head { fill: #9da7b3 }
    }
  `

/** Draws the stages of a migration: who answers, what is compared, which command says whether to go on, and the way back. */
export function migrationPicture(stages: readonly Stage[] = STAGES): string {
  const [from, to] = [stages.findIndex(({ share }) => share), stages.findIndex(({ mode }) => mode && SERVED_BY[mode] === 'v2')]
  const [begin, end, right] = [xOf(from), xOf(to - 1) + BOX, xOf(stages.length - 1) + BOX]
  const first = xOf(stages.findIndex(({ mode }) => mode)) + BOX / 2
  const titled = `${stages.map(({ title }) => title).join(', ')}: the stages of a migration. v1 answers until the rollout, which gives all clients to v2. One request leads back.`
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} 310" width="${WIDTH}" height="310" role="img" aria-labelledby="t">
  <title id="t">${titled}</title>
  <style>${STYLE}</style>
  <defs>
    <marker id="to" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
      <path class="head" d="M0 0 8 4 0 8z" />
    </marker>
  </defs>
  <rect class="back" width="${WIDTH}" height="310" rx="8" />
${stages.flatMap((stage, at) => boxOf(stage, at, at < stages.length - 1)).join('\n')}
  <rect class="v1" x="${LEFT}" y="184" width="${right - LEFT}" height="44" />
  <polygon class="v2" points="${begin},228 ${end},184 ${right},184 ${right},228" />
  <text x="${LEFT + 12}" y="211">v1 answers the clients</text>
  <text x="${right - 12}" y="211" text-anchor="end">v2 answers the clients</text>
  <path d="M${right - BOX / 2} 236V268H${first}V240" marker-end="url(#to)" />
  <text class="small" x="${(right - BOX / 2 + first) / 2}" y="290" text-anchor="middle">back at any time: one PUT /modes, active from the next request on</text>
</svg>
`
}

function xOf(at: number): number {
  return LEFT + at * STEP
}

function boxOf(stage: Stage, at: number, goesOn: boolean): readonly string[] {
  const x = xOf(at)
  const middle = x + BOX / 2
  const line = (y: number, text: string, kind: string) =>
    `  <text class="${kind}" x="${middle}" y="${y}" text-anchor="middle">${text}</text>`
  return [
    `  <rect class="box" x="${x}" y="16" width="${BOX}" height="112" rx="6" />`,
    line(40, `${at + 1} ${stage.title}`, 'strong'),
    ...linesOf(stage).map((text, nth) => line(64 + 20 * nth, text, 'small')),
    line(154, stage.command, 'code'),
    ...(goesOn ? [`  <path d="M${x + BOX} 72H${x + STEP - 4}" marker-end="url(#to)" />`] : []),
  ]
}

/** What the modes of a stage do, as the program defines them. */
function linesOf({ mode, share }: Stage): readonly string[] {
  if (!mode) return ['a recorded log', 'nothing is sent']
  const answered = share ? `1 to 100 % get ${SERVED_BY[share]}` : `clients get ${SERVED_BY[mode]}`
  const other = share ? 'both' : SERVED_BY[mode] === 'v1' ? 'v2' : 'v1'
  const compared = COMPARING.has(mode) ? (other === 'both' ? 'both are compared' : `${other} is compared`) : 'nothing is compared'
  return [share ? `${mode}, ${share}` : mode, answered, compared]
}

const PROMETHEUS_RULE_HEAD = `# The rules of docker/alerts.yaml for the Prometheus Operator. \`npm run docs\` writes this file.
`

/**
 * Returns the rules as a PrometheusRule of Kubernetes, as YAML.
 *
 * @example prometheusRule(readFileSync('docker/alerts.yaml', 'utf8'))
 */
export function prometheusRule(alerts: string): string {
  const metadata = { name: 'crosswalk', labels: { 'app.kubernetes.io/name': 'crosswalk' } }
  const rule = { apiVersion: 'monitoring.coreos.com/v1', kind: 'PrometheusRule', metadata, spec: parse(alerts) }
  return PROMETHEUS_RULE_HEAD + stringify(rule, { lineWidth: 0 })
}

/** Where docs say more about a section, after its sentence. */
const SEE: Partial<Readonly<Record<Section, string>>> = {
  workers: '[several cores](../how-to/many-cores.md)',
  admin: '[who may ask it](../how-to/admin-port.md)',
  forwarded: '[deployment](../how-to/balancer.md#the-address-of-the-client)',
  v1: '[dialects](#dialects)',
  emulated: '[what only v1 answers](modes.md#what-only-v1-answers)',
  modes: '[modes](modes.md), [rollouts](modes.md#rollouts)',
  circuit: '[circuits](modes.md#circuits)',
  diff: '[how they work](../why/evidence.md#what-is-compared)',
  records: '[what is written down](../why/security.md#what-is-written-down)',
  store: '[the store](../how-to/replicas.md)',
  notify: '[notifications](../how-to/notifications.md)',
  limits: '[what each limit protects](../why/security.md#what-a-stranger-can-cost-at-most)',
  log: '[its members](telemetry.md#log)',
}

/** Every setting as Markdown, one section for each group. */
export function settingsTables(): string {
  return [...(Object.keys(SECTIONS) as Section[]).map(tableOf), restarts()].join('\n\n')
}

function tableOf(section: Section): string {
  const see = SEE[section]
  const about = see === undefined ? `${SECTIONS[section]}.` : `${SECTIONS[section]} (${see}).`
  const head = ['| Setting | Default | Live | Meaning |', '|---|---:|---|---|']
  return [`### ${section}`, '', about, '', ...head, ...keysIn(section).map(row)].join('\n')
}

/** Why settings need a restart, one row for each reason. */
function restarts(): string {
  const reasons = new Map<string, SettingKey[]>()
  for (const key of SETTING_KEYS) {
    const why = whyRestart(key)
    if (why !== undefined) reasons.set(why, [...(reasons.get(why) ?? []), key])
  }
  const rows = [...reasons].map(([why, keys]) => `| ${why} | ${keys.map((key) => `\`${key}\``).join(', ')} |`)
  return ['### What needs a restart', '', '| Because | Settings |', '|---|---|', ...rows].join('\n')
}

function row(key: SettingKey): string {
  const { kind, help } = SETTINGS[key]
  return `| \`${key}\`<br>\`${envOf(key)}\` | ${shownDefault(key)} | ${liveOf(key)} | ${withKeysAsCode(help)}.<br>*${allowedOf(kind.allowed)}* |`
}

/** The reasons of the others are told below the tables, once each. */
function liveOf(key: SettingKey): string {
  return whyRestart(key) === undefined ? 'yes' : '–'
}

function allowedOf(allowed: string): string {
  const text = allowed.replace(/\d{5,}/g, (digits) => count(Number(digits)))
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`.replaceAll('*', '\\*')
}

function shownDefault(key: SettingKey): string {
  const value = defaultOf(key)
  return value === undefined ? '–' : `\`${value}\``
}

/** Formats the names of other settings in a help text as code. */
export function withKeysAsCode(help: string): string {
  const dotted = SETTING_KEYS.filter((key) => key.includes('.'))
  return dotted.reduce((text, key) => text.replace(new RegExp(`\\b${key.replace('.', '\\.')}\\b`, 'g'), `\`${key}\``), help)
}

/**
 * Sizes in bytes, measured on Node 24.21, which uses more than 22 and 20. CONNECTION excludes the headers that the client sends. PASSED_ON
 * is an HTTP/2 request whose body waits for a service that does not read.
 */
const CONNECTION = 28 * KIBIBYTE
const PASSED_ON = 460 * KIBIBYTE

/** The memory of a body for each of its bytes: its text, its parsed values and the body of a v2 call. */
const BODY = 11

/** An idle process. */
const AT_REST = 135 * MEBIBYTE

/** The most memory, in bytes, that clients without a token can make a process hold. */
export function memoryOf(config: Config) {
  const heads = config['limits.clientConnections'] * (config['limits.headerBytes'] + CONNECTION)
  const passedOn = config['limits.requestsInFlight'] * PASSED_ON
  const bodies = config['limits.bodiesBytes'] * BODY
  return { heads, passedOn, bodies, all: AT_REST + heads + passedOn + bodies }
}

type Row = readonly [what: string, most: string, madeOf: string]

/** The highest cost that clients without a token can cause, as Markdown. */
export function costTable(config: Config): string {
  const memory = memoryOf(config)
  const perConnection = Math.min(config['limits.streams'], Math.floor(config['limits.requestsInFlight'] / 8))
  const rows: readonly Row[] = [
    ['Connections', count(config['limits.clientConnections']), '`limits.clientConnections`; further ones are closed at once'],
    ['– before a request, or a TLS handshake, has arrived', inTime(config['limits.headersTimeoutMs']), '`limits.headersTimeoutMs`'],
    ['– without a byte', inTime(config['limits.idleTimeoutMs']), '`limits.idleTimeoutMs`'],
    [
      'Requests in progress',
      count(config['limits.requestsInFlight']),
      '`limits.requestsInFlight`; further ones get 503 before they cost anything',
    ],
    ['– without a credential', count(Math.ceil(config['limits.requestsInFlight'] * 0.75)), 'three quarters of `limits.requestsInFlight`'],
    ['– of one connection', count(perConnection), '`limits.streams`, and an eighth of `limits.requestsInFlight`'],
    ['Time for a translated request', inTime(config['limits.deadlineMs']), '`limits.deadlineMs`, its body included'],
    ['Time for a body that passes through', inTime(config['limits.bodyTimeoutMs']), '`limits.bodyTimeoutMs`'],
    ['Time for a client to read a piece of an answer', inTime(config['limits.writeTimeoutMs']), '`limits.writeTimeoutMs`'],
    ['WebSockets', count(config['limits.webSockets']), '`limits.webSockets`; a silent one lasts `limits.webSocketIdleMs`'],
    [
      'Connections to v2',
      count(3 * config['upstream.connections']),
      '`upstream.connections`, for each of: translated and v1, native, gRPC; and one for each WebSocket',
    ],
    ['Memory for heads', inBytes(memory.heads), '`limits.clientConnections` × (`limits.headerBytes` + 28 KiB)'],
    [
      'Memory for requests that pass through',
      inBytes(memory.passedOn),
      '`limits.requestsInFlight` × 460 KiB: the window of an HTTP/2 stream and its objects',
    ],
    [
      'Memory for bodies that are translated',
      inBytes(memory.bodies),
      '`limits.bodiesBytes` × 11: bytes, text, values, and the body of the v2 call',
    ],
    ['Memory in all', inBytes(memory.all), 'the three above, and 135 MiB for an idle process'],
  ]
  return ['| What | At most | Made of |', '|---|---:|---|', ...rows.map((row) => `| ${row.join(' | ')} |`)].join('\n')
}

/** Returns the table that leads from each alert to its page, in the order of the rules. \`yaml\` is docker/alerts.yaml, \`headings\` finds a heading. */
export function alertsTable(yaml: string, headingOf: (page: string, anchor: string) => string): string {
  const pages = new Map<string, string[]>()
  for (const [, alert = '', url = ''] of yaml.matchAll(/- alert: (\w+)\n[\s\S]*?runbook_url: \S+?\/docs\/how-to\/(\S+)/g)) {
    pages.set(url, [...(pages.get(url) ?? []), alert])
  }
  const rows = Array.from(pages, ([url, alerts]) => {
    const [page = '', anchor = ''] = url.split('#')
    return `| ${alerts.join(', ')} | [${headingOf(page, anchor)}](${url}) |`
  })
  return ['| Alert | Read |', '|---|---|', ...rows].join('\n')
}
