import { blame, blameLeftovers } from './blame.ts'
import { diceOf } from './dice.ts'
import { type Played, playMany } from './play.ts'
import type { Case, Prey } from './prey.ts'
import type { Victim } from './victim.ts'

/** Cases after which is looked at what is left of them. */
const BLOCK = 2500

/** Cases that are looked at again after a death: it is told a while after its connections broke. */
const RECENT = 1000

/** Failures after which a hunt is given up. */
const ENOUGH = 5

/** Plays cases; gives the failures, each with the smallest case that brings it about. */
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

/** A death is not laid at one door, but at all where somebody was about. */
function suspectsOf<C extends Case>(played: readonly Played<C>[], death: string | undefined): readonly Played<C>[] {
  return death === undefined ? played.filter(({ wrong }) => wrong !== undefined) : played.slice(-RECENT)
}
