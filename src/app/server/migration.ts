import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Logger } from 'pino'
import type { Agent } from 'undici'
import type { FleetAnswers } from '../../admin/fleet-routes.ts'
import { createNotifier, createReceiver, createSign, type Notifier, ROOM } from '../../admin/notify.ts'
import { describeWith } from '../../admin/report/difference.ts'
import { createReporter, type FleetCounted, type Report } from '../../admin/report/report.ts'
import { misuse } from '../../errors.ts'
import { ANY, answerForm, ERROR_FORM, type Form, formAt, segmentsOf } from '../../migrate/compare/compare.ts'
import { type DescribedDeclaration, ignoredDifference } from '../../migrate/compare/expected.ts'
import { TARGET } from '../../migrate/evidence/cutover.ts'
import { wrongTerms } from '../../migrate/evidence/terms.ts'
import { createMigration, type Migration, type MigrationSettings } from '../../migrate/migration.ts'
import type { IdentifiedNote } from '../../migrate/modes/journal.ts'
import { NEEDS_V1 } from '../../migrate/modes/modes.ts'
import { needV1 } from '../../migrate/modes/rules.ts'
import { type KnownToRules, type OperationMode, operationModes, ruleWarnings } from '../../migrate/modes/select.ts'
import type { Note } from '../../migrate/records/record.ts'
import { type EpochOrigin, epochHash, type RecordFile, tablesHash } from '../../migrate/records/record-file.ts'
import type { Clocks } from '../../serve/bounds.ts'
import { isRead } from '../../serve/sides.ts'
import type { Carries } from '../../serve/upstream/exchange.ts'
import { createUnsharedReads } from '../../serve/upstream/send.ts'
import { createAskV1, createReadV1 } from '../../serve/upstream/v1.ts'
import { checkMappings, suggestion } from '../../tables/check.ts'
import { covers, type Mapping, type Operation } from '../../tables/operation.ts'
import { paramsOf } from '../../tables/query.ts'
import type { IgnoreRule } from '../../tables/signs.ts'
import { operationsOf, type Tables } from '../../tables/tables.ts'
import { DIALECTS } from '../../tables/uid.ts'
import { type DocumentSettings, type OpenApiDocument, openApiDocument } from '../../tools/openapi.ts'
import { readTls } from '../config/certificates.ts'
import { callTimes, compatSettings, contractSettings, migrationSettings, notifySettings } from '../config/config.ts'
import type { Config } from '../config/settings.ts'

/** Returns the differences of the tables and those that the operator ignores, or a sentence about a rule that fits nothing. */
export function declarationsWith(
  rules: readonly IgnoreRule[],
  tables: Tables,
): { readonly declarations: readonly DescribedDeclaration[] } | { readonly problem: string } {
  const compared = operationsOf(tables).filter(({ begin }) => begin !== undefined)
  const names = rules.map(({ name }, nth) => name ?? String(nth + 1))
  const problems = rules.map((rule, nth) => problemOf(rule, names.indexOf(names[nth] ?? '') === nth, compared))
  const nth = problems.findIndex((problem) => problem !== undefined)
  if (nth >= 0) return { problem: `diff.ignore.${nth}${problems[nth]}` }
  return { declarations: [...tables.differences, ...rules.map((rule, at) => ignoredDifference(rule, names[at] ?? ''))] }
}

/** Says what is wrong with a rule, as the end of a sentence that begins with its place in the list. */
function problemOf(rule: IgnoreRule, isFirst: boolean, compared: readonly Operation[]): string | undefined {
  const patterns = [rule.operations].flat()
  const covered = compared.filter(({ id }) => patterns.some((pattern) => covers(pattern, id)))
  if (!isFirst) return '.name is the name of an earlier rule too; give each rule a name of its own.'
  return wrongPattern(patterns, compared) ?? wrongStatus(rule) ?? wrongPlace(rule, covered) ?? wrongParameter(rule, covered)
}

function wrongPattern(patterns: readonly string[], compared: readonly Operation[]): string | undefined {
  const ids = compared.map(({ id }) => id)
  const wrong = patterns.find((pattern) => !ids.some((id) => covers(pattern, id)))
  if (wrong === undefined) return undefined
  return `.operations: "${wrong}" fits no operation that v2 serves; ${suggestion(wrong, ids, 'crosswalk operations lists them.')}`
}

/** A difference of status hides the whole answer, so that such a rule must be exact. */
function wrongStatus(rule: IgnoreRule): string | undefined {
  const { at, kinds = [] } = rule
  if (at !== '') return kinds.includes('status') ? '.kinds: status is the kind of the place "" alone; leave it out.' : undefined
  if (kinds.some((kind) => kind !== 'status'))
    return '.kinds: the place "" has the kind status alone; name a place below it for other kinds.'
  return typeof rule.v1 === 'number' && typeof rule.v2 === 'number' ? undefined : ' is about the status, so it must give both: v1 and v2.'
}

function wrongPlace({ at, operations }: IgnoreRule, covered: readonly Operation[]): string | undefined {
  const forms = [ERROR_FORM, ...covered.flatMap((operation) => DIALECTS.map((dialect) => answerForm(operation, dialect)))]
  const segments = segmentsOf(at)
  const known = (length: number) => forms.flatMap((form) => formAt(form, segments.slice(0, length)) ?? [])
  if (known(segments.length).length > 0) return undefined
  const length = segments.findLastIndex((_, nth) => known(nth).length > 0)
  const above = `/${segments.slice(0, length).join('/')}`
  const there = known(length).flatMap(namesBelow)
  const members = [...new Set(there)]
  const list = members.length === 0 ? 'nothing is below it' : `there are ${members.join(', ')}`
  return `.at: no answer of ${[operations].flat().join(', ')} has "${at}"; ${suggestion(segments[length] ?? '', members, `at "${above}" ${list}.`)}`
}

function namesBelow(form: Form): readonly string[] {
  if (form.kind === 'object') return [...form.members.values()].map(({ name }) => name)
  return form.kind === 'list' || form.kind === 'map' ? [ANY] : []
}

function wrongParameter({ when = [], operations }: IgnoreRule, covered: readonly Operation[]): string | undefined {
  const known = [...new Set(covered.flatMap(paramsOf))]
  const wrong = when.flatMap(({ param }) => param).find((name) => !known.includes(name))
  if (wrong === undefined) return undefined
  const fallback = `the parameters are ${known.join(', ')}.`
  return `.when: ${[operations].flat().join(', ')} has no parameter "${wrong}"; ${suggestion(wrong, known, fallback)}`
}

/** Returns a sentence about a name in `cutover.operations` that fits no operation that v2 serves. */
export function wrongTermsOf(config: Pick<Config, 'cutover.operations'>, tables: Tables): string | undefined {
  const served = operationsOf(tables).filter(({ begin }) => begin !== undefined)
  return wrongTerms(
    config['cutover.operations'],
    served.map(({ id }) => id),
  )
}

/** Returns what the server is made from. Throws a misuse if the settings do not go with the tables, and a sentence if these are wrong. */
export function checked(config: Config, tables: Tables) {
  const v2 = config['upstream.v2']
  if (v2 === undefined) throw misuse('upstream.v2 is not set: give the base address of the v2 service')
  if (config['upstream.v1'] === undefined && needV1(config.modes)) throw misuse(NEEDS_V1)
  const declared = declarationsWith(config['diff.ignore'], tables)
  if ('problem' in declared) throw misuse(declared.problem)
  const unfit = wrongTermsOf(config, tables)
  if (unfit !== undefined) throw misuse(unfit)
  checkMappings(tables.mappings)
  return { v2, declarations: declared.declarations, tls: readTls(config) }
}

export type Checked = Readonly<ReturnType<typeof checked>>

/** Returns a reader of the modes in force of every operation that v2 can serve. Without a v1 service, v2 answers everything. */
export function currentModesOf(
  { modes, report }: Pick<Migration, 'modes' | 'report'>,
  mappings: readonly Mapping[],
  { emulated, 'upstream.v1': v1 }: Pick<Config, 'emulated' | 'upstream.v1'>,
): () => readonly OperationMode[] {
  const served = mappings.flatMap(({ operations }) => operations).filter(({ begin }) => begin !== undefined)
  const operations = served.map((one) => ({
    id: one.id,
    isV1First: v1 !== undefined && emulated === 'v1-first' && one.kind === 'emulated' && isRead(one),
  }))
  return () => {
    const open = report.openCircuits()
    return operationModes(modes.inForce(), operations, (operation) => open[operation] !== undefined)
  }
}

/** Returns a reader of what is wrong with the rules in force. */
export function ruleWarningsOf(
  { modes, report }: Pick<Migration, 'modes' | 'report'>,
  operations: KnownToRules['operations'],
): () => readonly string[] {
  // Beyond a number, clients are not told apart, and nothing is known of those that are missing.
  const callers = () => (report.evidence().uncounted > 0 ? [] : report.clients())
  return () => ruleWarnings(modes.state().rules, { operations, callers })
}

type Level = 'info' | 'warn'

/** The level and the beginning of the line of each kind of note. */
const LINES: Readonly<Record<Note['what'], readonly [level: (note: Note) => Level, begin: (operation: string) => string]>> = {
  modes: [() => 'info', () => 'the modes changed: '],
  circuit: [() => 'warn', (operation) => `the circuit of ${operation} is open, its canary share is 0: `],
  'circuit-closed': [() => 'warn', (operation) => `the circuit of ${operation} is closed again: `],
  rollout: [({ by, to }) => (by?.source === 'rollout' && STOPPED.test(to ?? '') ? 'warn' : 'info'), () => ''],
  ready: [() => 'info', (operation) => `${operation || WHOLE} is ready: `],
  'not-ready': [() => 'warn', (operation) => `${operation || WHOLE} is no longer ready: `],
  restart: [() => 'info', () => ''],
  epoch: [() => 'info', () => ''],
  acceptance: [() => 'warn', () => ''],
  'store-lost': [() => 'warn', () => ''],
  'records-lost': [() => 'warn', () => ''],
  conflict: [() => 'warn', () => ''],
  clock: [({ to }) => (to === 'differs' ? 'warn' : 'info'), () => ''],
}

/** What a note of readiness without an operation is about. */
const WHOLE = 'the cutover'

/** The states of a rollout that stopped by itself. */
const STOPPED = /^(?:paused|turned-back)\b/

/** Returns a listener that writes each note as one log line. Its members are those of the record. */
export function logNotes(log: Pick<Logger, Level>): (note: Note) => void {
  return (note) => {
    const { kind: _, at: __, id: ___, text, ...members } = note
    const [level, begin] = LINES[note.what]
    log[level(note)](members, begin(note.operation ?? '') + text)
  }
}

/** Passes notes on; `ended` is called when somebody was told of one. */
type NoteStream = (listener: (note: IdentifiedNote, ended?: () => void) => void) => void

/** Builds the notifier of the settings, which tells of all notes that it gets; undefined without `notify.url`. */
export function openNotifier(config: Config, onNote: NoteStream, log: Logger): Notifier | undefined {
  const { url, secrets, source = `urn:crosswalk:${encodeURIComponent(hostname())}`, timeoutMs, attempts, page } = notifySettings(config)
  if (url === undefined) return undefined
  const notifier = createNotifier({
    receiver: createReceiver(url, timeoutMs),
    sign: createSign(secrets),
    ...{ source, page, attempts, room: ROOM },
    now: Date.now,
    random: Math.random,
    pause: (ms, signal) => delay(ms, undefined, { signal, ref: false }).catch(() => {}),
    warn: (text) => log.warn(text),
  })
  onNote(notifier.tell)
  return notifier
}

interface AskCarriers {
  readonly pool: Agent
  /** Connections for comparison only: a side that hangs must not block those that clients wait for. */
  readonly askPool: Carries
  readonly log: Logger
  /** The path of the configuration file, if there is one. */
  readonly file: string | undefined
  readonly clocks: Clocks
  /** The name of this process among those of its fleet; undefined without a store. */
  readonly replica?: string | undefined
  /** Writes the record file in place of this process, if it does not do it itself. */
  readonly records: RecordFile | undefined
}

/** What evidence under these settings is about. */
export function originOf(config: Config): EpochOrigin {
  return { tables: tablesHash(config.tables), build: config['upstream.v2Build'] }
}

/** Builds the modes and everything that compares. */
export function assembleMigration(
  config: Config,
  v2: string,
  tables: Tables,
  declarations: readonly DescribedDeclaration[],
  { pool, askPool, log, file, clocks, records, replica }: AskCarriers,
): Migration {
  const base = config['upstream.v1']
  const settings = migrationSettings(config)
  const isRecorded = (settings.records.file ?? records) !== undefined
  const epoch = isRecorded ? epochHash(originOf(config)) : undefined
  // A copy of the settings would not change with them.
  const given: Omit<MigrationSettings, keyof typeof settings> & Pick<MigrationSettings, 'records'> = {
    records: { ...settings.records, writer: records, epoch },
    configFile: file,
    replica,
    operations: operationsOf(tables),
    declarations,
    v1:
      base === undefined
        ? undefined
        : {
            ask: createAskV1({ pool, base, answerMs: config['limits.deadlineMs'] }),
            readForDiff: createReadV1({ pool: askPool, base, answerMs: settings.answerMs }),
            unsharedReads: createUnsharedReads({
              pool: askPool,
              base: v2,
              times: callTimes(config),
              answerBytes: config['limits.answerBytes'],
              errors: tables.errors,
            }),
            translate: compatSettings(config, tables),
          },
    ...clocks,
    random: Math.random,
    warn: (text) => log.warn(text),
  }
  const migration = createMigration(Object.assign(settings, given))
  migration.onNote(logNotes(log))
  return migration
}

/**
 * Returns what makes the report: of all replicas, if they share a store. It collects the data of the report page from every recorded entry, and
 * says what is in force.
 */
export function reportNowOf(
  { journal, follow, report, modes, terms }: Migration,
  mappings: readonly Mapping[],
  declarations: readonly DescribedDeclaration[],
  { emulated, 'upstream.v1': v1 }: Pick<Config, 'emulated' | 'upstream.v1'>,
  answers: Pick<FleetAnswers, 'counted' | 'onComparison'> | undefined,
): () => Report | Promise<Report> {
  const operations = mappings.flatMap((mapping) => mapping.operations)
  const v1First = emulated === 'v1-first' ? operations.filter((one) => one.kind === 'emulated' && isRead(one)).map(({ id }) => id) : []
  const reporter = createReporter({ ledger: journal, operations, describe: describeWith(declarations) })
  follow(reporter.add)
  answers?.onComparison(reporter.add)
  const startedAt = Date.now()
  const made = (counted?: FleetCounted) => {
    const [rollouts, circuits] = [modes.rollouts(), report.openCircuits()]
    const inForce = { ...modes.state(), startedAt, rollouts, circuits, v1First, hasV1: v1 !== undefined }
    return reporter.report({ target: TARGET, now: Date.now(), terms: terms(), inForce, counted })
  }
  return answers ? async () => made(await answers.counted()) : () => made()
}

/** Returns what makes the v1 contract of the proxy at an address: the same document, until a setting is another. */
export function contractOf(config: Config, tables: Tables): (server: string) => OpenApiDocument {
  let last: { readonly settings: DocumentSettings; readonly document: OpenApiDocument } | undefined
  return (server) => {
    const settings = { ...contractSettings(config), operations: [], server }
    if (!last || !isDeepStrictEqual(last.settings, settings)) last = { settings, document: openApiDocument(tables, settings) }
    return last.document
  }
}
