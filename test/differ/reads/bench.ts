import { type Sandbox, startSandbox } from '../../../src/sandbox/start.ts'
import type { Dialect } from '../../../src/tables/language/names.ts'
import { type Differ, type Received, startDiffer } from '../stage/differ.ts'
import type { Read } from './reads.ts'
import { type CalmRead, calmRead } from './spoilable.ts'

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
  /** Crosswalk without v1: what clients would see. */
  readonly oracle: Differ
  readonly comparing: Readonly<Record<Comparing, Differ>>
  close(): Promise<void>
}

/** Starts a bench on free ports. */
export async function startBench(dialect: Dialect): Promise<Bench> {
  const sandbox = await startSandbox({ port: 0, v1Dialect: dialect })
  const start = (mode: Comparing | 'v2') => startDiffer({ sandbox, mode, atRest: true, config: { 'v1.dialect': dialect } })
  const oracle = await start('v2')
  const comparing = { 'diff-v1': await start('diff-v1'), 'diff-v2': await start('diff-v2') }
  return {
    dialect,
    sandbox,
    oracle,
    comparing,
    async close() {
      await Promise.all([oracle, ...Object.values(comparing)].map((differ) => differ.close()))
      await sandbox.close()
    },
  }
}

/** Makes a read once on both sides. `random` chooses the v2 answers to spoil, and the places in them. */
export async function prepareRead({ sandbox, oracle }: Bench, read: Read, random: () => number): Promise<PreparedRead> {
  const genuine = await receive(`${sandbox.url}${read.path}`, sandbox.tokens[read.role ?? 'owner'])
  return { read, genuine, ...(await calmRead(oracle, read, random)) }
}

async function receive(url: string, token: string): Promise<Received> {
  const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
  return { status: answer.status, type: answer.headers.get('content-type') ?? undefined, text: await answer.text() }
}
