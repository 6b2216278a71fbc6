import { describeWith } from '../../admin/report/difference.ts'
import { createReporter, type Report, reportLines } from '../../admin/report/report.ts'
import { pageOf, readAssets } from '../../admin/report-page.ts'
import type { Finding } from '../../migrate/compare/compare.ts'
import { ignoredDifference } from '../../migrate/compare/expected.ts'
import type { Judgement } from '../../migrate/compare/judge.ts'
import { TARGET } from '../../migrate/evidence/cutover.ts'
import { createMigration, type Migration } from '../../migrate/migration.ts'
import { createSampler, everyNth, type Sampler } from '../../migrate/observe/observe.ts'
import type { Entry } from '../../migrate/records/record.ts'
import { CLOCKS, type Clocks } from '../../serve/bounds.ts'
import type { Mode } from '../../serve/sides.ts'
import type { Operation } from '../../tables/operation.ts'
import { migrationSettings, readGivenSettings } from '../config/config.ts'
import { SETTING_KEYS, type SettingKey } from '../config/settings.ts'
import { comparedFunction, Strays } from './compared-call.ts'
import type { Nested } from './crosswalk.ts'
import type { SnapshotLimits } from './values.ts'

/** Two functions that are compared. */
export interface FunctionPair {
  readonly operation: Operation
  readonly legacy: AsyncFunction<readonly unknown[], unknown>
  readonly next: AsyncFunction<readonly unknown[], unknown>
  readonly options: CompareOptions
  /** Both may be called for one call. */
  readonly isCompared: boolean
}

const NAME = /^[\w.:-]{1,100}$/

/** Returns two functions as an operation that no table describes. Throws an Error with a sentence about an option that is wrong. */
export function pairOf(legacy: FunctionPair['legacy'], next: FunctionPair['next'], options: CompareOptions): FunctionPair {
  const { name, isRead, isSafeTwice = false, canary, caller } = options
  if (typeof name !== 'string' || !NAME.test(name)) {
    throw new Error(`name is ${JSON.stringify(name)}, but it must have 1 to 100 letters, digits, ".", "_", ":" and "-", such as users.get.`)
  }
  if (typeof isRead !== 'boolean') throw new Error(`isRead of ${name} must be true, or false if a call may change something.`)
  if (canary && !caller) throw new Error(`canary of ${name} needs the option caller, which says whose call it is.`)
  const isCompared = isRead || isSafeTwice
  const operation: Operation = {
    id: name,
    method: isRead ? 'GET' : 'POST',
    template: name,
    kind: 'direct',
    calls: [],
    params: {},
    ownParams: [],
    missing: 'error',
    empty: () => null,
    fieldName: (path) => path,
    ...(!isCompared && { readBack: { unverifiable: 'it writes, and only one side is called' } }),
  }
  return { operation, legacy, next, options, isCompared }
}

/** Whether callers can be moved to the next functions, as `crosswalk cutover` says it. */
export interface FunctionVerdict extends Pick<Report, 'target' | 'ready' | 'reasons'> {
  /**
   * `READY`: at 95 %, every name has at most `target` wrong answers. `NOT READY`: one has more. `INCONCLUSIVE`: too little is known, never a
   * pass.
   */
  readonly verdict: 'READY' | 'NOT READY' | 'INCONCLUSIVE'
  /** For a command: 0 if ready, 1 if not, 3 if earlier records could not be read. */
  readonly exitCode: 0 | 1 | 3
}

/** `unread` says why earlier records could not be read; nobody knows what they held. */
function verdictOn({ target, ready, reasons, operations }: Report, unread: string | undefined): FunctionVerdict {
  if (unread !== undefined) return { verdict: 'INCONCLUSIVE', exitCode: 3, target, ready: false, reasons: [unread, ...reasons] }
  if (ready) return { verdict: 'READY', exitCode: 0, target, ready, reasons }
  const isWrong = operations.some(({ blocks, standing }) => blocks && standing === 'outside')
  return { verdict: isWrong ? 'NOT READY' : 'INCONCLUSIVE', exitCode: 1, target, ready, reasons }
}

/** The settings that mean something where functions are compared. */
const KEYS = [
  'diff.waiting',
  'diff.waitingBytes',
  'diff.parallel',
  'diff.perSecond',
  'diff.deadlineMs',
  'diff.answerBytes',
  'diff.learnEvery',
  'diff.ignore',
  'records.file',
  'records.bytes',
  'records.files',
  'records.memory',
  'records.values',
] as const satisfies readonly SettingKey[]

/**
 * How much is compared, what is ignored, and what is recorded: settings of docs/reference/configuration.md, by the same names and with the same defaults.
 *
 *     const settings: ComparisonSettings = { diff: { perSecond: 20, deadlineMs: 2_000 }, records: { file: 'users.jsonl' } }
 */
export type ComparisonSettings = Nested<(typeof KEYS)[number]>

const OWN: ReadonlySet<SettingKey> = new Set(KEYS)
const REFUSED = Object.fromEntries(
  SETTING_KEYS.filter((key) => !OWN.has(key)).map((key) => [key, 'it has no meaning where functions are compared']),
)

/** Puts together what judges calls: a migration without services. Throws an Error with a sentence for each setting that is wrong. */
function openComparison(settings: ComparisonSettings, options: ComparisonOptions) {
  const { target = TARGET, clocks = CLOCKS, random = Math.random, isName = isCodeName } = options
  if (!(target > 0 && target < 1)) throw new Error(`target is ${target}, but it must be more than 0 and less than 1.`)
  const read = readGivenSettings(settings, REFUSED)
  if ('problem' in read) throw new Error(read.problem)
  const { config } = read
  const warn = guarded(options.warn ?? ((text) => process.emitWarning(text)), () => {})
  const own = migrationSettings(config)
  const operations: Operation[] = []
  const declarations = config['diff.ignore'].map((rule, nth) => ignoredDifference(rule, rule.name ?? String(nth + 1)))
  const migration = createMigration({
    ...own,
    queue: own.queue,
    operations,
    declarations,
    isName,
    isStrict: true,
    configFile: undefined,
    warn,
    random,
    ...clocks,
  })
  const reporter = createReporter({ ledger: migration.journal, operations, describe: describeWith(declarations) })
  migration.follow(reporter.add)
  if (options.onEntry) migration.counting.followOwn(guarded(options.onEntry, (error) => warn(`onEntry threw ${String(error)}`)))
  let unread: string | undefined
  const restored = migration.restore().catch((error: unknown) => {
    unread = `Earlier records could not be read: ${(error as Error).message}`
    warn(unread)
  })
  let closed: Promise<void> | undefined
  const startedAt = clocks.now()
  const means: ComparisonMeans = {
    migration,
    sampler: createSampler(own, { now: clocks.ticks, random }, migration.queue.places),
    strays: new Strays(config['diff.waiting']),
    learning: everyNth(own),
    clocks,
    shown: { limit: config['diff.answerBytes'], isName },
    deadlineMs: config['diff.deadlineMs'],
    showsValues: config['records.values'] === 'shown',
    restored,
    isClosed: () => closed !== undefined,
    onMismatch: guarded(options.onMismatch ?? (() => {}), (error) => warn(`onMismatch threw ${String(error)}`)),
    warn: onceEach(warn),
  }
  return {
    means,
    /** Grows with each pair of functions. */
    operations,
    report(): Report {
      const circuits = migration.report.openCircuits()
      const inForce = { ...migration.modes.state(), startedAt, rollouts: [], circuits, v1First: [], hasV1: true }
      // What is active speaks of a proxy: its commands would lead nowhere.
      const { now: _, ...report } = reporter.report({ target, isStrict: true, now: clocks.now(), inForce })
      return report
    },
    /** Why earlier records could not be read; undefined if they could. */
    unread: () => unread,
    close() {
      closed ??= restored.then(migration.close)
      return closed
    },
  }
}

/** A function of the user must not stop a comparison. */
function guarded<T>(tell: (value: T) => void, failed: (error: unknown) => void): (value: T) => void {
  return (value) => {
    try {
      tell(value)
    } catch (error) {
      failed(error)
    }
  }
}

/** Most different warnings. */
const WARNINGS = 100

function onceEach(warn: (text: string) => void): ComparisonMeans['warn'] {
  const told = new Set<string>()
  return (name, text) => {
    const said = `${name}: ${text}.`
    if (told.has(said) || told.size >= WARNINGS) return
    told.add(said)
    warn(said)
  }
}

const FUNCTION_NAME = /^[A-Za-z_$][\w$]{0,39}$/
const NUMBER = /\d{4}/

/** True for what looks like a name that a programmer gave. */
function isCodeName(name: string): boolean {
  return FUNCTION_NAME.test(name) && !NUMBER.test(name)
}

/**
 * Makes a group of functions that share a report, a verdict and the limits of comparing:
 *
 *     const comparison = createComparison({ records: { file: 'users.jsonl' } }, { onMismatch: (one) => log.warn(one.name) })
 *     const getUser = comparison.compare(legacyGetUser, nextGetUser, { name: 'users.get', isRead: true })
 *
 * It keeps no process from exiting, and shares nothing with another group. Throws an Error with a sentence for each setting that is wrong.
 */
export function createComparison(settings: ComparisonSettings = {}, options: ComparisonOptions = {}): ComparisonGroup {
  const { means, operations, report, unread, close } = openComparison(settings, options)
  const { migration, restored } = means
  const comparison: ComparisonGroup = {
    compare<Args extends readonly unknown[], Result>(
      legacy: AsyncFunction<Args, Result>,
      next: AsyncFunction<Args, Result>,
      given: CompareOptions<Args, Result>,
    ) {
      const pair = pairOf(legacy as FunctionPair['legacy'], next as FunctionPair['next'], given as unknown as CompareOptions)
      const { id } = pair.operation
      if (operations.some((known) => known.id === id)) throw new Error(`name is "${id}" for other functions too; give each pair its own.`)
      const compared = comparedFunction(pair, means)
      operations.push(pair.operation)
      return Object.assign(compared, { comparison }) as unknown as ComparedFunction<Args, Result>
    },
    report,
    reportText: () => reportLines(report()).join('\n'),
    reportPage: () => pageOf(report(), readAssets()).html,
    verdict: () => verdictOn(report(), unread()),
    closeCircuit: (name) => void migration.journal.circuit.close((operation) => operation === name),
    async idle() {
      await restored
      await migration.idle()
    },
    close,
  }
  return comparison
}

/**
 * Returns a function that answers as legacy does, and compares next besides:
 *
 *     const getUser = compare(legacyGetUser, nextGetUser, { name: 'users.get', isRead: true })
 *     const user = await getUser('u1')
 *     console.log(getUser.comparison.verdict().verdict)
 *
 * The caller gets the result or the error of the side that the mode says, and waits for nothing else. Functions with the same `comparison`
 * share a report. Throws an Error with a sentence about an option that is wrong.
 */
export function compare<Args extends readonly unknown[], Result>(
  legacy: AsyncFunction<Args, Result>,
  next: AsyncFunction<Args, Result>,
  { comparison = createComparison(), ...options }: CompareOptions<Args, Result> & { readonly comparison?: ComparisonGroup },
): ComparedFunction<Args, Result> {
  return comparison.compare(legacy, next, options as CompareOptions<Args, Result>)
}

/** Only functions that return a promise are compared: a second side besides would stop the caller of any other. */
export type AsyncFunction<Args extends readonly unknown[], Result> = (...args: Args) => Promise<Result>

/** How two functions are compared. */
export type CompareOptions<Args extends readonly unknown[] = readonly unknown[], Result = unknown> = OfAnyCall<Args, Result> &
  (OfReads | OfWrites)

interface OfReads {
  /** True if a call changes nothing, so that it may be repeated. */
  readonly isRead: true
  readonly isSafeTwice?: never
}

interface OfWrites {
  /** False if a call may change something. Only the side that the mode says is called then. */
  readonly isRead: false
  /** True if next may be called besides legacy although it writes, such as to a copy. Neither is ever asked again. Default: false. */
  readonly isSafeTwice?: boolean
}

interface OfAnyCall<Args extends readonly unknown[], Result> {
  /** Names the functions in reports and records: letters, digits, `.`, `_`, `:` and `-`, such as `users.get`. */
  readonly name: string
  /**
   * The side that answers the caller, and whether the other one is called too. `v1` is legacy and `v2` is next; `diff-v1` and `diff-v2`
   * compare. A function is asked at every call. Default: `diff-v1`.
   */
  readonly mode?: Mode | (() => Mode)
  /** Another mode for a share of the callers, in percent. It needs `caller`. */
  readonly canary?: { readonly mode: Mode; readonly percent: number }
  /** Identifies whose call it is, such as a tenant. It is recorded as a hash. Default: all calls are those of one caller. */
  readonly caller?: (...args: Args) => string
  /** What two calls have in common that tell the same. Default: all arguments. Only a hash of it is recorded. */
  readonly shape?: (...args: Args) => unknown
  /** Copies arguments that are not plain data. `signal` ends with the comparison; it is undefined for the first copy. */
  readonly copy?: (args: Args, signal: AbortSignal | undefined) => readonly [...Args]
  /** What is compared of a result, as JSON. Default: the whole result. */
  readonly show?: (result: Result) => unknown
}

/** What settings cannot say. */
export interface ComparisonOptions {
  /** Acceptable share of wrong answers, more than 0 and less than 1. Default: 0.001. */
  readonly target?: number
  /** Gets every difference that nothing explains, with the values themselves. They are masked nowhere here: log with care. */
  readonly onMismatch?: (mismatch: Mismatch) => void
  /** Gets every entry that is recorded. Its values are masked, unless `records.values` is `shown`. */
  readonly onEntry?: (entry: Entry) => void
  /**
   * Tells names of members, which are recorded, from keys that are data. Default: up to 40 letters, digits, `_` and `$`, without four digits in a
   * row.
   */
  readonly isName?: (name: string) => boolean
  /** Gets one sentence for each fault of an option, such as arguments that cannot be copied. Default: `process.emitWarning`. */
  readonly warn?: (text: string) => void
  /** Another clock than that of the machine, for tests. */
  readonly clocks?: Clocks
  /** Returns a number from 0 up to but not including 1. Default: `Math.random`. */
  readonly random?: () => number
}

/** Functions that are compared, and what is learnt of them. Several of them share nothing. */
export interface ComparisonGroup {
  /** Compares two functions of one name; see `compare`. */
  compare<Args extends readonly unknown[], Result>(
    legacy: AsyncFunction<Args, Result>,
    next: AsyncFunction<Args, Result>,
    options: CompareOptions<Args, Result>,
  ): ComparedFunction<Args, Result>
  /** The data of the report, as `crosswalk report --json` prints it. */
  report(): Report
  /** The report as lines for a terminal. */
  reportText(): string
  /** The report as one page of HTML that loads nothing from elsewhere. */
  reportPage(): string
  /** Whether callers can be moved to the next functions. */
  verdict(): FunctionVerdict
  /** Closes the circuit of a name. Its comparisons then count anew for the circuit. */
  closeCircuit(name: string): void
  /** Resolves when no comparison waits or runs, and the earlier records are read. */
  idle(): Promise<void>
  /** Gives up comparisons. Resolves when the records are written. The functions then answer as before, and nothing is compared. */
  close(): Promise<void>
}

/** Answers as the mode says. `comparison` has the report and the verdict. */
export type ComparedFunction<Args extends readonly unknown[], Result> = AsyncFunction<Args, Result> & {
  readonly comparison: ComparisonGroup
}

/** What all functions of a group share. */
export interface ComparisonMeans {
  readonly migration: Migration
  readonly sampler: Sampler
  readonly strays: Strays
  readonly learning: (name: string) => boolean
  readonly clocks: Clocks
  readonly shown: SnapshotLimits
  readonly deadlineMs: number
  /** True if arguments may be recorded. */
  readonly showsValues: boolean
  /** Resolves when the earlier records are counted. */
  readonly restored: Promise<void>
  readonly isClosed: () => boolean
  readonly onMismatch: (mismatch: Mismatch) => void
  /** Warns once of each thing that is wrong with a name. */
  readonly warn: (name: string, text: string) => void
}

/** A difference that nothing explains. Its values are those of your data, as they were compared. */
export interface Mismatch {
  /** The name of the functions. */
  readonly name: string
  /** `transient`: it was gone when both were asked again. `error`: next did not answer in time. */
  readonly outcome: Extract<Judgement['outcome'], 'mismatch' | 'transient' | 'error'>
  /** A copy of the arguments. */
  readonly args: readonly unknown[]
  /** What each side first did: `returned`, `threw TypeError`. */
  readonly legacy: FirstDeed
  readonly next: FirstDeed
  /** JSON Pointers and values. `v1` is legacy, and `v2` is next. */
  readonly differences: readonly Pick<Finding, 'kind' | 'at' | 'where' | 'v1' | 'v2'>[]
  /** For an error: what happened. */
  readonly reason?: string
}

/** What one side did, and its result as it was compared. */
export interface FirstDeed {
  readonly did: string
  readonly value: unknown
}
