import { AsyncResource } from 'node:async_hooks'
import { createHash, createHmac } from 'node:crypto'
import { bodyOf, canonical } from '../../migrate/compare/compare.ts'
import { unexplained } from '../../migrate/compare/judge.ts'
import type { Uncompared } from '../../migrate/evidence/standing.ts'
import type { ComparedRequest } from '../../migrate/modes/journal.ts'
import { canarySchema } from '../../migrate/modes/rules.ts'
import { createSelect, type Select } from '../../migrate/modes/select.ts'
import { type ComparedRead, compareRead, type SideAnswer } from '../../migrate/observe/compare-read.ts'
import { inTurns } from '../../serve/bounds.ts'
import { COMPARING, isMode, MODES, type Mode, otherSide, SERVED_BY, type Side } from '../../serve/sides.ts'
import type { Signal } from '../../serve/signals.ts'
import type { CompareOptions, ComparisonMeans, FirstDeed, FunctionPair, Mismatch } from './compare.ts'
import {
  type CopyArguments,
  copyArguments,
  readOr,
  type SeenResult,
  type ShownWith,
  type SnapshotLimits,
  seenGone,
  seenLate,
  seenReturn,
  seenThrow,
  signalsIn,
  snapshotOf,
} from './values.ts'

/** Calls that go on although their comparison has ended. Nothing can end a function from outside. */
export class Strays {
  readonly #most: number
  #count = 0

  constructor(most: number) {
    this.#most = most
  }

  isFull(): boolean {
    return this.#count >= this.#most
  }

  add(call: Promise<unknown>): void {
    this.#count += 1
    const leave = () => {
      this.#count -= 1
    }
    call.then(leave, leave)
  }
}

/** Calls one side besides. It never rejects: what the side throws is its answer, and a side that is late has failed. */
function askFunction(
  start: (signal: AbortSignal) => unknown,
  signal: Signal,
  shown: ShownWith,
  { deadlineMs, strays, clocks: { ticks, repeat } }: ComparisonMeans,
) {
  const began = ticks()
  const own = new AbortController()
  return new Promise<SideAnswer>((resolve) => {
    // A function that throws at once is one that rejects.
    const call = (async () => start(own.signal))()
    let isOver = false
    const end = (result: () => SeenResult) => {
      if (isOver) return
      isOver = true
      stop()
      signal.removeEventListener('abort', give)
      const { seen, size } = result()
      resolve({ seen, ms: Math.round(ticks() - began), bytes: size })
    }
    const leave = (result: SeenResult, reason: unknown) => {
      if (isOver) return
      end(() => result)
      strays.add(call)
      own.abort(reason)
    }
    const give = () => leave(seenGone(), signal.reason)
    const stop = repeat(() => leave(seenLate(deadlineMs), new DOMException('this side did not answer in time', 'TimeoutError')), deadlineMs)
    if (signal.aborted) give()
    else signal.addEventListener('abort', give)
    call.then(
      (value) => end(() => seenReturn(value, shown)),
      (thrown) => end(() => seenThrow(thrown, shown)),
    )
  })
}

/**
 * Returns the mode of a call by this caller. It never throws: legacy answers if nobody knows the mode. `moved` is told that the mode is
 * another one than at the call before.
 */
function createChosenMode(
  { name, mode = 'diff-v1', canary }: CompareOptions,
  isOpen: () => boolean,
  moved: (from: Mode, to: Mode) => void,
  warn: (text: string) => void,
): (caller: string) => Mode {
  if (typeof mode !== 'function' && !isMode(mode)) throw new Error(`mode of ${name} ${wrongMode(mode)}.`)
  const issues = canary && canarySchema.safeParse(canary).error?.issues
  const wrong = issues?.map(({ path, message }) => [...path, message].join(' ')).join('; ')
  if (wrong !== undefined) throw new Error(`The canary of ${name} is wrong: ${wrong}.`)
  const selects = new Map<Mode, Select>()
  let last: Mode | undefined
  return (caller) => {
    const base = currentMode(mode, warn)
    if (last !== undefined && last !== base) moved(last, base)
    last = base
    const rules = () => (canary ? [{ operations: '*', clients: '*', mode: base, canary }] : [])
    const select = selects.get(base) ?? createSelect({ default: base, rules: rules(), testers: [] })
    selects.set(base, select)
    return select({ caller, subject: undefined, operation: name, circuit: isOpen() ? 'open' : 'closed' })
  }
}

function currentMode(mode: Mode | (() => Mode), warn: (text: string) => void): Mode {
  if (typeof mode !== 'function') return mode
  try {
    const given = mode()
    if (isMode(given)) return given
    warn(`mode ${wrongMode(given)}; legacy answers`)
  } catch (error) {
    warn(`mode threw ${thrownText(error)}; legacy answers`)
  }
  return 'v1'
}

function wrongMode(given: unknown): string {
  return `is ${JSON.stringify(given)}, but it must be one of ${MODES.join(', ')}`
}

/** A call whose caller has the answer. */
interface JudgedCall {
  readonly pair: FunctionPair
  readonly subject: ComparedRequest
  readonly by: Side
  /** When it came, in milliseconds since 1970. */
  readonly since: number
  readonly first: SideAnswer
  readonly args: readonly unknown[]
}

type AskSide = (side: Side) => Promise<SideAnswer>

/** Calls the other side, and counts what the comparison shows. Both sides of a read are called again if they differ. */
async function judgeCall(call: JudgedCall, ask: AskSide, means: ComparisonMeans, signal: Signal): Promise<void> {
  await means.restored
  const { pair, subject, by, since, first } = call
  const { operation, options } = pair
  const { journal } = means.migration
  const read = { operation, read: () => subject.request, by, since, first, learn: means.learning(operation.id) }
  const compared = options.isRead ? await compareRead(read, ask, journal.judging, signal) : await compareOnce(call, ask, means)
  journal.compared(subject, 'read', operation, compared)
  tell(call, compared, means)
}

/** A write is never repeated, so that whatever differs counts. */
async function compareOnce({ subject, by, first }: JudgedCall, ask: AskSide, { migration }: ComparisonMeans): Promise<ComparedRead> {
  const other = await ask(otherSide(by))
  const [v1, v2] = by === 'v1' ? [first, other] : [other, first]
  const asked = { operation: subject.operation, request: subject.request }
  return { asked, judgement: await inTurns(migration.journal.judging.judge(asked, v1.seen, v2.seen)), v1, v2 }
}

const TOLD: ReadonlySet<string> = new Set<Mismatch['outcome']>(['mismatch', 'transient', 'error'])

function tell({ pair, args }: JudgedCall, { judgement, v1, v2 }: ComparedRead, { onMismatch }: ComparisonMeans): void {
  const { outcome, findings, reason } = judgement
  if (!TOLD.has(outcome)) return
  onMismatch({
    name: pair.operation.id,
    outcome: outcome as Mismatch['outcome'],
    args,
    legacy: deedOf(v1),
    next: deedOf(v2),
    differences: unexplained(findings).map(({ kind, at, where, v1, v2 }) => ({ kind, at, where, v1, v2 })),
    ...(reason !== undefined && { reason }),
  })
}

function deedOf({ seen }: SideAnswer): FirstDeed {
  return { did: seen.did ?? '', value: bodyOf(seen) }
}

/**
 * Decides whether a call is compared when the caller has its answer. It copies the arguments before anybody can change them. Undefined if
 * it is not. `self` is what both functions are called on.
 */
function watchCall(pair: FunctionPair, self: unknown, given: readonly unknown[], caller: string, mode: Mode, means: ComparisonMeans) {
  const { operation, options } = pair
  const { migration, sampler, strays, clocks } = means
  const { queue, journal } = migration
  const by = SERVED_BY[mode]
  const user = `${operation.id} ${by}`
  const term = journal.terms.now
  const skip = (why: Uncompared, isUse = true) => {
    journal.tallies.uncompared(operation.id, why, isUse)
    return undefined
  }
  if (strays.isFull() || queue.refuses(0)) return skip('waiting')
  const warn = (text: string) => means.warn(operation.id, text)
  const shown = once(() => snapshotOf(likenessOf(options, given, warn), means.shown))
  const shape = once(() => shapeOf(operation.id, shown().body, journal.redaction.key.text()))
  const chosen = sampler.choose({ user, caller, shape })
  if (typeof chosen === 'string') return skip(chosen)
  const copy: CopyArguments = (options.copy as CopyArguments | undefined) ?? copyArguments
  let args: readonly unknown[]
  try {
    args = copy(given, undefined)
  } catch (thrown) {
    warn(uncopied(thrown))
    return skip('uncopied')
  }
  const [since, began, size] = [clocks.now(), clocks.ticks(), shown().size]
  const signals = signalsIn(given)
  const inContext = AsyncResource.bind((run: () => unknown) => run())
  const shownWith: ShownWith = { ...means.shown, show: options.show }
  const end = ({ seen, size: more }: SeenResult) => {
    if (means.isClosed()) return
    if (signals.some(({ aborted }) => aborted)) return skip('gone')
    // A result of next that has no room is left out for what it is, and not by chance: it counts as such.
    if (queue.refuses(size + more)) return skip(by === 'v2' && !queue.refuses(size) ? 'heldBytes' : 'waiting')
    if (term.epoch !== journal.terms.now.epoch) return skip('earlier')
    sampler.charge(user, size + more)
    journal.tallies.used(operation.id)
    const request = requestOf(means.showsValues ? args : undefined, means.shown)
    const subject = { operation, term, request, mode, caller, subject: undefined, ...chosen, shape: shape() }
    const first = { seen, ms: Math.round(clocks.ticks() - began) }
    const judged: JudgedCall = { pair, subject, by, since, first, args }
    const start = (side: Side) => (signal: AbortSignal) =>
      inContext(() => (side === 'v1' ? pair.legacy : pair.next).apply(self, [...copy(args, signal)]))
    const job = (signal: Signal) => judgeCall(judged, (side) => askFunction(start(side), signal, shownWith, means), means, signal)
    queue.offer(job, size + more, user, (why) => skip(why, false))
  }
  return {
    returned: (value: unknown) => end(seenReturn(value, shownWith)),
    threw: (thrown: unknown) => end(seenThrow(thrown, shownWith)),
  }
}

/** Returns what a call has in common with those that tell the same: all arguments if the option cannot say it. */
function likenessOf({ shape }: CompareOptions, given: readonly unknown[], warn: (text: string) => void): unknown {
  if (!shape) return given
  try {
    return shape(...given)
  } catch (thrown) {
    warn(`the option shape threw ${thrownText(thrown)}; all arguments are taken`)
    return given
  }
}

/** Calls with equal arguments tell the same, so that they are one kind of request. Only a hash of the arguments is kept. */
function shapeOf(name: string, body: ReturnType<typeof snapshotOf>['body'], key: string): string {
  if (body.kind !== 'json') return name
  return `${name}?${createHmac('sha256', key).update(canonical(body.value)).digest('hex').slice(0, 12)}`
}

function requestOf(args: readonly unknown[] | undefined, limits: SnapshotLimits) {
  const body = args && snapshotOf(args, limits).body
  const query = new Map(body?.kind === 'json' ? [['args', [JSON.stringify(body.value)]]] : [])
  return { params: {}, query, body: undefined }
}

function uncopied(thrown: unknown): string {
  const because = readOr(() => ((thrown ?? {}) as { because?: unknown }).because, undefined)
  const why = typeof because === 'string' ? `they contain ${because}` : thrownText(thrown)
  return `the arguments cannot be copied: ${why}. Its calls are not compared; give the option copy`
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

type Called = (this: unknown, ...args: unknown[]) => Promise<unknown>

/** Returns a function that answers as the mode says. What the comparison meets never reaches the caller. */
export function comparedFunction(pair: FunctionPair, means: ComparisonMeans): Called {
  const { operation, options, legacy, next, isCompared } = pair
  const { modes, journal, note } = means.migration
  const warn = (text: string) => means.warn(operation.id, text)
  const moved = (from: Mode, to: Mode) => {
    journal.circuit.close((one) => one === operation.id)
    note({ what: 'modes', operation: operation.id, text: `${operation.id}: ${to}`, from, to, by: { source: 'program' } })
  }
  const modeOf = createChosenMode(options, () => journal.circuit.isOpen(operation.id), moved, warn)
  const callerOf = (args: readonly unknown[]) => {
    if (!options.caller) return NOBODY
    try {
      return hashOf(options.caller(...args))
    } catch (error) {
      warn(`the option caller threw ${thrownText(error)}`)
      return NOBODY
    }
  }
  const begin = (self: unknown, args: readonly unknown[], caller: string, mode: Mode) => {
    if (!isCompared || !COMPARING.has(mode) || means.isClosed()) return undefined
    return safely(() => watchCall(pair, self, args, caller, mode, means), warn)
  }
  const count = (caller: string, mode: Mode) => {
    if (means.isClosed()) return
    modes.noteStatus(operation, caller, OK, SERVED_BY[mode])
    modes.used({ caller, subject: undefined, credential: caller, mode }, operation, { refused: false, by: SERVED_BY[mode] })
  }
  return async function compared(...args) {
    const caller = callerOf(args)
    const mode = modeOf(caller)
    const watched = begin(this, args, caller, mode)
    try {
      const result = await (SERVED_BY[mode] === 'v1' ? legacy : next).apply(this, args)
      safely(() => watched?.returned(result), warn)
      return result
    } catch (thrown) {
      safely(() => watched?.threw(thrown), warn)
      throw thrown
    } finally {
      safely(() => count(caller, mode), warn)
    }
  }
}

const OK = 200

function hashOf(caller: string): string {
  return createHash('sha256').update(caller).digest('hex').slice(0, 16)
}

/** The caller of calls that nobody tells apart. */
const NOBODY = hashOf('')

function thrownText(thrown: unknown): string {
  return readOr(() => String(thrown), 'what cannot be shown')
}

/** A fault of comparing must not become one of the caller. */
function safely<T>(run: () => T, warn: (text: string) => void): T | undefined {
  try {
    return run()
  } catch (error) {
    warn(`a comparison failed: ${thrownText(error)}`)
    return undefined
  }
}
