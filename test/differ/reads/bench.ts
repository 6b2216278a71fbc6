import { type Sandbox, startSandbox } from '../../../src/sandbox/start.ts'
import type { Dialect } from '../../../src/tables/uid.ts'
import type { Received } from '../stage/differ.ts'
import { type EachMode, startEachMode } from '../stage/each-mode.ts'
import type { Read } from './reads.ts'
import { type CalmRead, calmRead } from './spoilable.ts'

/** A read with its answers as long as nothing is spoiled. */
export interface PreparedRead extends CalmRead {
  readonly read: Read
  readonly genuine: Received
}

/** One sandbox, with a Crosswalk for each mode in front of it. Nobody writes. */
export interface Bench extends EachMode {
  readonly dialect: Dialect
  readonly sandbox: Sandbox
}

/** Starts a bench on free ports. */
export async function startBench(dialect: Dialect): Promise<Bench> {
  const sandbox = await startSandbox({ port: 0, v1Dialect: dialect })
  const modes = await startEachMode({ sandbox, atRest: true, config: { 'v1.dialect': dialect } })
  return { dialect, sandbox, ...modes }
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
