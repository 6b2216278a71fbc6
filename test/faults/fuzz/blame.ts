import { type Played, playAlone, playMany } from './play.ts'
import type { Case, Prey } from './prey.ts'
import type { Victim } from './victim.ts'

/** Returns the smallest case that fails alone, and its failure; of many, the first. `death` describes the end of the process. */
export async function blame<C extends Case>(
  prey: Prey<C>,
  victim: Victim,
  suspects: readonly Played<C>[],
  death: string | undefined,
): Promise<string> {
  for (const { one } of suspects) {
    const wrong = await playAlone(prey, victim, one)
    if (wrong === undefined) continue
    const smallest = await shrink(one, async (smaller) => kindOf(await playAlone(prey, victim, smaller)) === kindOf(wrong))
    return `${wrong}\n${brief(prey.show(smallest))}`
  }
  await victim.revive()
  const seen = death ?? suspects.map(({ wrong }) => wrong).join(', ')
  return `none is wrong alone, but among others; seen: ${seen}`
}

/** Does the same for leftovers of finished cases: plays them in ever smaller numbers. */
export async function blameLeftovers<C extends Case>(prey: Prey<C>, victim: Victim, cases: readonly C[]): Promise<string> {
  const leaves = async (some: readonly C[]) => {
    await victim.restart()
    await playMany(prey, victim, some)
    return (await victim.autopsy()) ?? victim.leftovers()
  }
  let guilty = cases
  while (guilty.length > 1) {
    const middle = Math.ceil(guilty.length / 2)
    const halves = [guilty.slice(0, middle), guilty.slice(middle)]
    const half = (await leaves(halves[0] as C[])) === undefined ? halves[1] : halves[0]
    guilty = half as readonly C[]
  }
  const [one] = guilty as [C]
  const left = await leaves([one])
  if (left === undefined) return 'by no case alone'
  const smallest = await shrink(one, async (smaller) => (await leaves([smaller])) !== undefined)
  return `${left}\n${brief(prey.show(smallest))}`
}

/** Returns a failure without the parts that differ between cases. */
const kindOf = (wrong: string | undefined) => wrong?.split(':', 1)[0]

/** Shortens long repetitions. */
const brief = (text: string) => text.replaceAll(/(..?)\1{40,}/g, (run, unit) => `${unit}…(${run.length})`)

/** Removes parts as long as the rest still fails. */
async function shrink<C extends Case>(one: C, fails: (smaller: C) => Promise<boolean>): Promise<C> {
  let smallest = one
  for (let at = smallest.parts.length - 1; at >= 0; at--) {
    const smaller = { ...smallest, parts: smallest.parts.toSpliced(at, 1) }
    if (await fails(smaller)) smallest = smaller
  }
  return smallest
}
