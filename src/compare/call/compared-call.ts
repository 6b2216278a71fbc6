import { AsyncResource } from 'node:async_hooks'
import { createHmac } from 'node:crypto'
import { canonical } from '../../migrate/compare/compare.ts'
import type { Uncompared } from '../../migrate/evidence/standing.ts'
import { type Mode, SERVED_BY } from '../../serve/sides.ts'
import type { ComparisonMeans } from '../comparison-means.ts'
import type { FunctionPair } from '../function-operation.ts'
import { type CopyArguments, copyArguments, signalsIn } from '../values/copied-arguments.ts'
import { type SeenResult, type ShownWith, seenReturn, seenThrow } from '../values/seen-result.ts'
import { type SnapshotLimits, snapshotOf } from '../values/snapshot.ts'
import { askFunction } from './ask-function.ts'
import { type JudgedCall, judgeCall } from './judge-call.ts'

/** A call that is compared when the caller has its answer. */
export interface WatchedCall {
  returned(value: unknown): void
  threw(thrown: unknown): void
}

/** A call before the answer. */
export interface CallToWatch {
  /** What both functions are called on. */
  readonly self: unknown
  readonly args: readonly unknown[]
  readonly caller: string
  readonly mode: Mode
}

/** Decides whether a call is compared. It copies the arguments before anybody can change them. Undefined if it is not. */
export function watchCall(pair: FunctionPair, call: CallToWatch, means: ComparisonMeans): WatchedCall | undefined {
  const { operation, options } = pair
  const { migration, sampler, strays, clocks } = means
  const { queue, journal } = migration
  const by = SERVED_BY[call.mode]
  const user = `${operation.id} ${by}`
  const skip = (why: Uncompared) => {
    journal.tallies.uncompared(operation.id, why)
    return undefined
  }
  if (strays.isFull() || queue.refuses(0)) return skip('waiting')
  const shown = once(() => snapshotOf(options.shape ? options.shape(...call.args) : call.args, means.shown))
  const shape = once(() => shapeOf(operation.id, shown().body, journal.redaction.key.text()))
  const chosen = sampler.choose({ user, caller: call.caller, shape })
  if (typeof chosen === 'string') return skip(chosen)
  const copy: CopyArguments = (options.copy as CopyArguments | undefined) ?? copyArguments
  let args: readonly unknown[]
  try {
    args = copy(call.args, undefined)
  } catch (thrown) {
    means.warn(operation.id, uncopied(thrown))
    return skip('uncopied')
  }
  const [since, began, size] = [clocks.now(), clocks.ticks(), shown().size]
  const signals = signalsIn(call.args)
  const inContext = AsyncResource.bind((run: () => unknown) => run())
  const shownWith: ShownWith = { ...means.shown, show: options.show }
  const end = ({ seen, size: more }: SeenResult) => {
    if (means.isClosed()) return
    if (signals.some(({ aborted }) => aborted)) return skip('gone')
    if (queue.refuses(size + more)) return skip('waiting')
    sampler.charge(user, size + more)
    const { caller, mode } = call
    const subject = {
      operation,
      request: requestOf(means.showsValues ? args : undefined, means.shown),
      mode,
      caller,
      subject: undefined,
    }
    const first = { seen, ms: Math.round(clocks.ticks() - began) }
    const judged: JudgedCall = { pair, subject: { ...subject, ...chosen, shape: shape() }, by, since, first, args }
    const start = (side: 'v1' | 'v2', signal: AbortSignal) =>
      inContext(() => (side === 'v1' ? pair.legacy : pair.next).apply(call.self, [...copy(args, signal)]))
    const asked = { ...clocks, start, shown: shownWith, deadlineMs: means.deadlineMs, strays }
    queue.offer((signal) => judgeCall(judged, (side) => askFunction(side, signal, asked), means, signal), size + more, user)
  }
  return {
    returned: (value) => end(seenReturn(value, shownWith)),
    threw: (thrown) => end(seenThrow(thrown, shownWith)),
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
  const { because } = (thrown ?? {}) as { because?: unknown }
  const why = typeof because === 'string' ? `they contain ${because}` : String(thrown)
  return `the arguments cannot be copied: ${why}. Its calls are not compared; give the option copy`
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
