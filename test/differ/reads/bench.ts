import { mappings } from '../../../mappings/index.ts'
import { isRead } from '../../../src/modes/serve/backend.ts'
import type { Sandbox } from '../../../src/sandbox/start.ts'
import type { Dialect } from '../../../src/tables/language/names.ts'
import { startQuietSandbox } from '../../stage/sandbox.ts'
import { seeded } from '../../stage/seeded.ts'
import { type Differ, type Received, type Role, startDiffer } from '../stage/differ.ts'
import { type Read, readsOf } from './reads.ts'
import { type CalmRead, calmRead } from './spoilable.ts'
import { uidsOf } from './uids.ts'

export const COMPARING = ['diff-v1', 'diff-v2'] as const
export type Comparing = (typeof COMPARING)[number]

/** A read with its answers as long as nothing is spoiled. */
export interface PreparedRead extends CalmRead {
  readonly read: Read
  readonly genuine: Received
}

/** One sandbox, with a Crosswalk for each mode in front of it. Nobody writes. */
export interface Bench {
  readonly dialect: Dialect
  readonly sandbox: Sandbox
  readonly reads: readonly PreparedRead[]
  /** Crosswalk without v1: what clients would see. */
  readonly oracle: Differ
  readonly comparing: Readonly<Record<Comparing, Differ>>
  close(): Promise<void>
}

/** Starts a bench on free ports, and makes every read once. The seed chooses the v2 answers and the places in them. */
export async function startBench(dialect: Dialect, seed: number): Promise<Bench> {
  const sandbox = await startQuietSandbox({ v1Dialect: dialect })
  const start = (mode: Comparing | 'v2') => startDiffer({ sandbox, mode, atRest: true, config: { 'v1.dialect': dialect } })
  const oracle = await start('v2')
  const comparing = { 'diff-v1': await start('diff-v1'), 'diff-v2': await start('diff-v2') }
  const random = seeded(seed)
  const reads: PreparedRead[] = []
  for (const read of readsOf(sandbox, await uidsOf(sandbox))) {
    const genuine = await receive(`${sandbox.url}${read.path}`, sandbox.tokens[read.role ?? ('owner' satisfies Role)])
    reads.push({ read, genuine, ...(await calmRead(oracle, read, random)) })
  }
  return {
    dialect,
    sandbox,
    reads,
    oracle,
    comparing,
    async close() {
      await Promise.all([oracle, ...Object.values(comparing)].map((differ) => differ.close()))
      await sandbox.close()
    },
  }
}

async function receive(url: string, token: string): Promise<Received> {
  const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
  return { status: answer.status, type: answer.headers.get('content-type') ?? undefined, text: await answer.text() }
}

/** Served reads that none of these requests asks. */
export function unreadIn(reads: readonly PreparedRead[]): readonly string[] {
  const served = mappings.flatMap(({ operations }) => operations).filter((operation) => operation.begin && isRead(operation))
  const asked = new Set(reads.map(({ read }) => read.operation))
  return served.map(({ id }) => id).filter((id) => !asked.has(id))
}
