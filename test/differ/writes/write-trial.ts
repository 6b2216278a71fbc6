import type { Comparison } from '../../../src/migrate/records/record.ts'
import { type Place, placesOf } from '../judge/places.ts'
import type { Verdict } from '../judge/verdict.ts'
import type { Received } from '../stage/differ.ts'
import type { Comparing } from '../stage/each-mode.ts'
import type { Spoil } from '../stage/relay.ts'
import type { Lie, ToldWrite } from './told.ts'
import type { WriteBench } from './write-bench.ts'
import { WRITES, type WriteRequest } from './write-cases.ts'

/** A write with fresh resources that was sent once. */
export interface TriedWrite {
  readonly operation: string
  readonly mode: Comparing
  readonly name: string
  readonly hash: string
  readonly received: Received
  /** Where the answer tells a client something else than what was done; undefined if nothing was done. */
  readonly places: readonly Place[] | undefined
}

/** Makes the spoil of v2, once the request is known. */
export type MakeSpoil = (request: WriteRequest) => Promise<Spoil | undefined>

/** Sends a write whose effect is lost, or an honest one. */
export async function tryWrite(bench: WriteBench, mode: Comparing, operation: string, name: string, make: MakeSpoil): Promise<TriedWrite> {
  const request = await requestOf(bench, operation)
  const v2 = await make(request)
  const caller = bench.comparing[mode].caller(v2 && { v2 })
  await caller.introduce()
  const received = await caller.send(request.method, request.path, request.body)
  return { operation, mode, name, hash: caller.hash, received, places: undefined }
}

/** Sends a write to a v2 that does one thing and tells another, and asks the oracle where a client sees it. */
export async function tryLie(bench: WriteBench, operation: string, lie: Lie): Promise<TriedWrite> {
  const seen: ToldWrite[] = []
  let request: WriteRequest | undefined
  const tried = await tryWrite(bench, 'diff-v2', operation, lie.name, async (asked) => {
    request = asked
    return lie.spoil(seen)
  })
  // What v2 told was no answer at all.
  if (tried.received.status >= 500) return { ...tried, places: [{ at: '', value: String(tried.received.status) }] }
  if (!request || tried.received.status !== 200) return tried
  const [done, told] = [await asIf(bench, request, seen, 'done'), await asIf(bench, request, seen, 'told')]
  return { ...tried, places: placesOf(done, told) }
}

/** Returns the answer to a client if v2 gives these answers to its writes. */
async function asIf(bench: WriteBench, { method, path, body }: WriteRequest, seen: readonly ToldWrite[], which: 'done' | 'told') {
  let nth = 0
  const v2: Spoil = async (call, forward) => {
    if (call.method === 'GET') return forward()
    nth += 1
    return seen[nth - 1]?.[which] ?? forward()
  }
  return bench.oracle.caller({ v2 }).send(method, path, body)
}

async function requestOf({ fresh }: WriteBench, operation: string): Promise<WriteRequest> {
  const prepare = WRITES[operation]
  if (!prepare) throw new Error(`no write of test/differ/writes/write-cases.ts asks ${operation}`)
  return prepare(fresh)
}

const AGAINST: ReadonlySet<string> = new Set(['mismatch', 'error', 'transient'])

/** Judges what was recorded of a write. A lost one is visible at once; another one where the oracle says so. */
export function writeVerdict({ operation, places }: TriedWrite, recorded: readonly Comparison[]): Verdict {
  const against = recorded.find(({ outcome }) => AGAINST.has(outcome))
  const told = recorded.map(({ outcome, reason, examples }) => [outcome, reason, ...examples.map(({ at }) => at)].join(' ')).join('; ')
  if (places?.length === 0) return against ? { is: 'flagged', reason: told } : { is: 'silent' }
  if (!against) return { is: 'missed', reason: told || 'not compared' }
  return against.operation === operation ? { is: 'found' } : { is: 'misplaced', reason: `${against.operation} ${told}` }
}
