import type { Signal } from '../../upstream/signal.ts'
import type { ComparedRequest } from '../journal.ts'
import type { Ask, SideAnswer } from './ask.ts'
import { type ComparedRead, compareRead, type Judging } from './compare-read.ts'
import { brokenPromise } from './kept-promise.ts'
import type { Reading } from './reader.ts'
import type { WatchedRequest } from './watched.ts'

/** A write that one side served, and how to read its resource. */
export interface ServedWrite extends WatchedRequest {
  readonly subject: ComparedRequest
  readonly reading: Reading
  /** The answer to the write itself. */
  readonly answer: unknown
}

/** Reads a resource that was just written through both sides and compares: write once, verify twice (design §7). */
export async function checkWrite(write: ServedWrite, ask: Ask, judging: Judging, signal: Signal): Promise<ComparedRead> {
  const { served } = write
  const asking = askingOf(write)
  const first = await ask('v1', asking, signal)
  const read = { ...asking, by: 'v1' as const, first, wrote: () => false, learn: false }
  const compared = await compareRead(read, ask, judging, signal)
  if (served.by === 'v1' || compared.judgement.outcome === 'mismatch') return compared
  const broken = promise(write, first)
  // A read too soon after the write may not show it yet; a read of a lost write never does.
  const again = broken && (await ask('v1', asking, signal))
  const judgement = again && promise(write, again)
  return judgement ? { ...compared, judgement } : compared
}

/** Returns a GET with the client's own credentials. */
function askingOf({ request: { raw }, reading }: ServedWrite) {
  const { 'content-type': _, 'content-length': __, 'transfer-encoding': ___, ...headers } = raw.headers
  const get = { id: raw.id, method: 'GET', url: reading.url, headers }
  return { operation: reading.operation, raw: get, read: () => reading.request }
}

function promise({ subject, reading, answer, mayBeGone }: ServedWrite, { seen }: SideAnswer) {
  if (seen.status !== 200 || seen.body.kind !== 'json') return undefined
  return brokenPromise({ write: subject.operation, answer, reading: reading.operation, read: seen.body.value, mayBeGone })
}
