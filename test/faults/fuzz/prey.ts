import type { Dice } from './dice.ts'
import type { Victim } from './victim.ts'

/** A case made of parts, so that it can be shrunk. */
export interface Case {
  readonly parts: readonly unknown[]
}

/** A kind of cases. */
export interface Prey<C extends Case> {
  readonly name: string
  draw(dice: Dice): C
  /** Creates clients that play one case at a time. */
  players(victim: Victim, count: number): readonly Player<C>[]
  /** Returns the case in readable form. */
  show(one: C): string
}

export interface Player<C> {
  /** Returns the proxy's mistake; undefined if this client saw none. */
  play(one: C): Promise<string | undefined>
  close(): void
}
