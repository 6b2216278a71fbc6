import type { Case, Player, Prey } from './prey.ts'
import type { Victim } from './victim.ts'

/** The number of parallel cases. */
const PLAYERS = 32

/** Milliseconds after which a case counts as a hang, among others and alone. Relevant limits are shorter, or much longer. */
const PATIENCE = 15_000
const PATIENCE_ALONE = 5000

export const DEATH = 'the process died'

/** A case and its result. */
export interface Played<C> {
  readonly one: C
  readonly wrong: string | undefined
}

/** Plays cases in parallel until none is left or one fails. */
export async function playMany<C extends Case>(prey: Prey<C>, victim: Victim, cases: readonly C[]): Promise<readonly Played<C>[]> {
  const played: Played<C>[] = []
  let next = 0
  let isOver = false
  const work = async (player: Player<C>) => {
    while (!isOver && victim.death() === undefined) {
      const one = cases[next++]
      if (!one) return
      const wrong = await patiently(player, one, PATIENCE)
      played.push({ one, wrong })
      if (wrong !== undefined) isOver = true
    }
  }
  const players = prey.players(victim, Math.min(PLAYERS, cases.length))
  await Promise.all(players.map(work))
  for (const player of players) player.close()
  return played
}

/** Plays one case in a proxy that does nothing else. */
export async function playAlone<C extends Case>(prey: Prey<C>, victim: Victim, one: C): Promise<string | undefined> {
  await victim.revive()
  const [player] = prey.players(victim, 1)
  const wrong = player && (await patiently(player, one, PATIENCE_ALONE))
  player?.close()
  const death = await victim.autopsy()
  return death === undefined ? wrong : `${DEATH}: ${death}`
}

async function patiently<C>(player: Player<C>, one: C, ms: number): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`a hang: no end within ${ms} ms`), ms)
  })
  try {
    return await Promise.race([player.play(one), late])
  } catch (error) {
    return `the client failed: ${(error as Error).stack}`
  } finally {
    clearTimeout(timer)
  }
}
