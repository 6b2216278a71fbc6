import { seeded } from '../../stage/seeded.ts'

/** Draws the parts of a case. */
export interface Dice {
  /** A whole number from 0 to below `most`. */
  below(most: number): number
  chance(share: number): boolean
  one<T>(of: readonly T[]): T
  /** A number of things, from `least` to `most`. */
  some<T>(least: number, most: number, draw: () => T): T[]
  /** The draw of one row, by weight. */
  weighed<T>(rows: readonly (readonly [weight: number, draw: () => T])[]): T
}

/** Returns the dice of one case. They depend only on its seed and its number, so that each case can be replayed by itself. */
export function diceOf(seed: number, nth: number): Dice {
  const random = seeded((seed + Math.imul(nth + 1, 0x9e3779b1)) | 0)
  const below = (most: number) => Math.floor(random() * most)
  return {
    below,
    chance: (share) => random() < share,
    one: <T>(of: readonly T[]) => of[below(of.length)] as T,
    some: (least, most, draw) => Array.from({ length: least + below(most - least + 1) }, draw),
    weighed<T>(rows: readonly (readonly [weight: number, draw: () => T])[]) {
      let left = random() * rows.reduce((sum, [weight]) => sum + weight, 0)
      for (const [weight, draw] of rows) {
        left -= weight
        if (left < 0) return draw()
      }
      return (rows[0] as (typeof rows)[number])[1]()
    },
  }
}
