import pLimit from 'p-limit'
import type { Comparison } from '../../../src/migrate/records/record.ts'
import { describe } from '../judge/verdict.ts'
import type { Bench } from '../reads/bench.ts'
import { count, type Tally } from '../score/tally.ts'
import type { Comparing } from '../stage/each-mode.ts'
import type { OddList } from './odd-lists.ts'

/** Callers that both services know. */
export const KNOWN = ['owner', 'viewer', 'outsider'] as const

/** Reads at the same time. */
const PARALLEL = 12

/** Reads lists as each known caller, and counts what was recorded of each read. */
export async function readAsKnown({ comparing }: Bench, mode: Comparing, lists: readonly OddList[], tally: Tally): Promise<void> {
  const differ = comparing[mode]
  const limit = pLimit(PARALLEL)
  const read = async ({ path }: OddList, role: (typeof KNOWN)[number]) => {
    const caller = differ.caller({ role })
    await caller.introduce()
    await caller.send('GET', path)
    return { what: `${role}, GET ${path}`, hash: caller.hash }
  }
  const sent = await Promise.all(lists.flatMap((list) => KNOWN.map((role) => limit(() => read(list, role)))))
  const records = await differ.records()
  for (const { what, hash } of sent) {
    const reason = problemOf(records.get(hash) ?? [])
    count(tally, reason === undefined ? { is: 'silent' } : { is: 'flagged', reason }, what)
  }
}

/** Says what is wrong with the comparisons of one read; undefined if they say that it was compared and is well. */
function problemOf(recorded: readonly Comparison[]): string | undefined {
  if (recorded.length === 0) return 'not compared'
  const wrong = recorded.find((comparison) => !isWell(comparison))
  return wrong && describe(wrong)
}

/** A refusal of v1 that v2 was not asked for stays open. */
function isWell({ outcome, v1 }: Comparison): boolean {
  return outcome === 'match' || outcome === 'expected' || (outcome === 'inconclusive' && v1?.status === 403)
}
