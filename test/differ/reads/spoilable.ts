import { leafMutations } from '../mutate/leaves.ts'
import { listMutations } from '../mutate/lists.ts'
import type { Mutation } from '../mutate/mutation.ts'
import { wholeMutations } from '../mutate/wholes.ts'
import type { Differ, Received } from '../stage/differ.ts'
import type { RelayedAnswer, Spoil } from '../stage/relay.ts'
import type { Read } from './reads.ts'

/** A v2 call that a read makes, and what may happen to its answer. */
export interface Target {
  /** Path and query. */
  readonly url: string
  readonly mutations: readonly Mutation[]
}

/** A read over a v2 as it is. */
export interface CalmRead {
  readonly received: Received
  readonly targets: readonly Target[]
}

/** Makes a read once, and returns its v2 calls: one of each kind, chosen by `random`, with every mutation of its answer. */
export async function calmRead(oracle: Differ, { path, role = 'owner' }: Read, random: () => number): Promise<CalmRead> {
  const answers = new Map<string, RelayedAnswer>()
  const overhear: Spoil = async (call, forward) => {
    const answer = await forward()
    answers.set(call.url, answer)
    return answer
  }
  const received = await oracle.caller({ role, v2: overhear }).send('GET', path)
  const kinds = new Map<string, string[]>()
  for (const url of [...answers.keys()].sort()) kinds.set(kindOf(url), [...(kinds.get(kindOf(url)) ?? []), url])
  const targets = [...kinds.values()].map((urls) => {
    const url = urls[Math.floor(random() * urls.length)] as string
    return { url, mutations: mutationsOf(answers.get(url) as RelayedAnswer, random) }
  })
  return { received, targets }
}

/** Returns the same kind for calls that differ only in their uids and their window: pages of a list, readmes of its rows. */
function kindOf(url: string): string {
  const [path = '', query = ''] = url.split('?')
  const isLater = /(?:^|&)(?:page_token|skip)=/.test(query)
  return `${path.replaceAll(/[0-9a-f]{16,40}(?:(?:\/|%2F)[0-9a-f]{16})*/gi, '{uid}')}${isLater ? ' later' : ''}`
}

function mutationsOf(answer: RelayedAnswer, random: () => number): readonly Mutation[] {
  const body: unknown = JSON.parse(answer.body.toString())
  return [...wholeMutations(answer, body), ...listMutations(body, random), ...leafMutations(body, random)]
}
