/** Whether everything is tried. `npm test` tries samples, because each case costs processor time; `.ci/run` sets the variable. */
export const isFull = process.env.CROSSWALK_SAMPLE === 'full'

/** One of so many cases, from a first one on; all of them if everything is tried. */
export function sampled<T>(cases: readonly T[], of: number, first = 0): readonly T[] {
  return isFull ? cases : cases.filter((_, nth) => nth % of === first % of)
}
