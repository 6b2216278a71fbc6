import { setTimeout as wait } from 'node:timers/promises'
import type { ComparisonOutcome, Judgement } from '../migrate/compare/judge.ts'
import { shapeOf } from '../migrate/evidence/standing.ts'
import type { Journal } from '../migrate/modes/journal.ts'
import { pageTokenOf } from '../migrate/modes/select.ts'
import { type Ask, compareRead } from '../migrate/observe/compare-read.ts'
import { identify } from '../serve/caller.ts'
import { isRead } from '../serve/sides.ts'
import type { Mapping, Operation, V1Request } from '../tables/operation.ts'
import { createRouteRecorded } from './route-recorded.ts'
import type { Traffic } from './traffic/recorded-traffic.ts'

export interface AgainstSettings {
  readonly mappings: readonly Mapping[]
  /** Asks either side. Both get the same token, and reads only. */
  readonly ask: Ask
  readonly journal: Journal
  /** Sent with every request. It is neither printed nor recorded. */
  readonly token: string
  /** Maximum reads in all, and per second. Each may be repeated to settle a difference. */
  readonly most: number
  readonly perSecond: number
  readonly signal: AbortSignal
}

/** One read and the answers of both sides. */
export interface AgainstRow {
  readonly operation: string
  readonly shape: string
  readonly outcome: ComparisonOutcome
  readonly reason?: string
  /** `kind where`, with the code of a declared difference. */
  readonly differences: readonly string[]
  readonly v1: number
  readonly v2: number
}

export interface Against {
  readonly rows: readonly AgainstRow[]
  readonly left: {
    /** Writes, which are never sent. */
    readonly writes: number
    /** Reads that were written as a POST. */
    readonly forms: number
    /** Repetitions of the same read. */
    readonly repeated: number
    /** Reads with a page token, which only the side that issued it can read. */
    readonly pageTokens: number
    readonly v1Only: number
    /** Not v1, or unknown to it. */
    readonly other: number
    /** Reads beyond the maximum. */
    readonly beyond: number
  }
}

/** Every n-th read asks v1 twice, to learn which members change by themselves. */
const LEARN_EVERY = 10

/** Sends every different read of recorded traffic to v1 and, translated, to v2, one after the other. Compares their answers. */
export async function replayAgainst(traffic: Traffic, settings: AgainstSettings): Promise<Against> {
  const { reads, left } = await pick(traffic, settings)
  const rows: AgainstRow[] = []
  const began = performance.now()
  for (const [nth, read] of reads.entries()) {
    const due = began + (1000 * nth) / settings.perSecond - performance.now()
    if (due > 0) await wait(due, undefined, { signal: settings.signal })
    rows.push(await send(read, nth, settings))
  }
  return { rows, left }
}

interface Read {
  readonly operation: Operation
  readonly request: V1Request
  readonly url: string
}

async function pick({ items }: Traffic, { mappings, most }: AgainstSettings) {
  const placeOf = createRouteRecorded(mappings)
  const left = { writes: 0, forms: 0, repeated: 0, pageTokens: 0, v1Only: 0, other: 0, beyond: 0 }
  const reads = new Map<string, Read>()
  for await (const item of items) {
    const place = 'url' in item ? placeOf(item) : undefined
    if (place?.kind !== 'operation' || !('url' in item)) left.other += 1
    else if (!place.operation.begin) left.v1Only += 1
    else if (place.form) left.forms += 1
    else if (item.method !== 'GET' || !isRead(place.operation)) left.writes += 1
    else if (pageTokenOf(place.operation, item.url) !== undefined) left.pageTokens += 1
    else if (reads.has(item.url)) left.repeated += 1
    else if (reads.size >= most) left.beyond += 1
    else reads.set(item.url, { operation: place.operation, request: place.request, url: item.url })
  }
  return { reads: [...reads.values()], left }
}

async function send({ operation, request, url }: Read, nth: number, { ask, journal, token, signal }: AgainstSettings): Promise<AgainstRow> {
  const headers = { authorization: `Bearer ${token}`, accept: 'application/json' }
  const raw = { id: `replay-${nth + 1}`, method: 'GET', url, headers, body: undefined }
  const asking = { operation, raw, read: () => request }
  const since = journal.judging.now()
  const first = await ask('v1', asking, signal)
  const read = { ...asking, by: 'v1' as const, since, first, wrote: () => false, learn: nth % LEARN_EVERY === 0 }
  const compared = await compareRead(read, ask, journal.judging, signal)
  journal.compared({ operation, request, mode: 'diff-v1', ...identify(headers.authorization) }, 'read', operation, compared)
  const { outcome, reason, findings } = compared.judgement
  return {
    operation: operation.id,
    shape: shapeOf(operation, request),
    outcome,
    ...(reason !== undefined && { reason }),
    differences: namesOf(findings),
    v1: compared.v1.seen.status,
    v2: compared.v2.seen.status,
  }
}

function namesOf(findings: Judgement['findings']): readonly string[] {
  const names = findings.map(
    ({ kind, where, code, noise }) => `${kind} ${where}${code === undefined ? '' : ` (${code})`}${noise ? ' (noise)' : ''}`,
  )
  return [...new Set(names)]
}
