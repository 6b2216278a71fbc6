import type { Place } from '../judge/places.ts'
import { visiblePlaces } from '../judge/visible.ts'
import type { Mutation } from '../mutate/mutation.ts'
import { COMPARING, type Comparing } from '../stage/each-mode.ts'
import type { Spoil } from '../stage/relay.ts'
import type { Bench, PreparedRead } from './bench.ts'

/** A read, and one way to spoil one of its v2 answers. */
export interface SpoiledRead {
  readonly prepared: PreparedRead
  /** The spoiled call. */
  readonly url: string
  readonly mutation: Mutation
}

/** What became of a spoiled read. */
export interface Tried extends SpoiledRead {
  /** Where a client would see it. */
  readonly places: readonly Place[]
  /** The caller in each mode, whose record is to be judged. */
  readonly callers: Readonly<Record<Comparing, string>>
}

const AS_IT_IS: Mutation = { name: 'as it is', apply: (answer) => answer }

/** All ways to spoil these reads, and each read as it is. */
export function spoiledReads(reads: readonly PreparedRead[]): readonly SpoiledRead[] {
  return reads.flatMap((prepared) => [
    { prepared, url: '', mutation: AS_IT_IS },
    ...prepared.targets.flatMap(({ url, mutations }) => mutations.map((mutation) => ({ prepared, url, mutation }))),
  ])
}

/** Sends a spoiled read to the oracle, and once in each comparing mode. With `once`, only the first answer to the call is spoiled. */
export async function trySpoiled({ oracle, comparing }: Bench, spoiled: SpoiledRead, once: boolean): Promise<Tried> {
  const { prepared, url, mutation } = spoiled
  const { read, genuine, received: calm } = prepared
  const role = read.role ?? 'owner'
  const v2: Spoil = async (call, forward) => {
    const answer = await forward()
    return call.url === url && (!once || call.nth === 1) ? mutation.apply(answer) : answer
  }
  const seen = await oracle.caller({ role, v2 }).send('GET', read.path)
  const callers = COMPARING.map(async (mode) => {
    const caller = comparing[mode].caller({ role, v2 })
    await caller.introduce()
    await caller.send('GET', read.path)
    return [mode, caller.hash] as const
  })
  const hashes = Object.fromEntries(await Promise.all(callers)) as Record<Comparing, string>
  return { ...spoiled, places: visiblePlaces({ genuine, calm, spoiled: seen }), callers: hashes }
}

/** Describes a spoiled read for people. */
export function describeSpoiled({ prepared, url, mutation }: SpoiledRead): string {
  const { operation, path, role = 'owner' } = prepared.read
  return `GET ${path} of the ${role} (${operation}), ${url === '' ? '' : `v2's GET ${url}: `}${mutation.name}`
}
