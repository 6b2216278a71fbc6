import type { Dice } from './dice.ts'
import type { Victim } from './victim.ts'

/** A case consists of parts, so that it can be made smaller. */
export interface Case {
  readonly parts: readonly unknown[]
}

/** What is tried. */
export interface Prey<C extends Case> {
  readonly name: string
  draw(dice: Dice): C
  /** Clients that play one case at a time. */
  players(victim: Victim, count: number): readonly Player<C>[]
  /** The case as a person reads it. */
  show(one: C): string
}

export interface Player<C> {
  /** What is wrong with the proxy; undefined: nothing that this client could see. */
  play(one: C): Promise<string | undefined>
  close(): void
}
