import { blame, blameLeftovers } from './blame.ts'
import { diceOf } from './dice.ts'
import { type Played, playMany } from './play.ts'
import type { Case, Prey } from './prey.ts'
import type { Victim } from './victim.ts'

/** The number of cases between two checks for leftovers. */
const BLOCK = 2500

/** The number of cases that are replayed after a death, which is noticed some time after its connections broke. */
const RECENT = 1000

/** The number of failures after which a hunt ends. */
const ENOUGH = 5

/** Plays cases; returns the failures, each with the smallest case that causes it. */
export async function hunt<C extends Case>(prey: Prey<C>, victim: Victim, cases: number, seed: number): Promise<readonly string[]> {
  const failures: string[] = []
  for (let from = 0; from < cases && failures.length < ENOUGH; from += BLOCK) {
    const block = Array.from({ length: Math.min(BLOCK, cases - from) }, (_, at) => prey.draw(diceOf(seed, from + at)))
    for (let rest: readonly C[] = block; rest.length > 0 && failures.length < ENOUGH; ) {
      const played = await playMany(prey, victim, rest)
      rest = rest.slice(played.length)
      const death = await victim.autopsy()
      const suspects = suspectsOf(played, death)
      if (suspects.length > 0) failures.push(await blame(prey, victim, suspects, death))
    }
    const left = await victim.leftovers()
    if (left !== undefined) failures.push(`${left}; ${await blameLeftovers(prey, victim, block)}`)
  }
  return failures.map((failure) => `${prey.name}, CROSSWALK_SEED=${seed}: ${failure}`)
}

/** A death has many suspects: all cases that were running. */
function suspectsOf<C extends Case>(played: readonly Played<C>[], death: string | undefined): readonly Played<C>[] {
  return death === undefined ? played.filter(({ wrong }) => wrong !== undefined) : played.slice(-RECENT)
}
