import type { ExampleReport } from './difference.ts'

/** Examples by group. The limit applies to all groups together, but a frequent difference never removes a rare one. */
export interface Examples {
  add(group: string, example: ExampleReport): void
  /** Newest first. */
  of(group: string): readonly ExampleReport[]
}

/** Maximum examples of all groups. */
const MOST = 10_000

/** Examples of each group that are always kept. */
const SPARED = 3

export function createExamples(most: number = MOST): Examples {
  const groups = new Map<string, ExampleReport[]>()
  /** The group of each example, oldest first. Reading starts at `first`. */
  let order: string[] = []
  let first = 0
  let held = 0
  const forgetOldest = () => {
    while (first < order.length) {
      const examples = groups.get(order[first++] ?? '')
      if (!examples || examples.length <= SPARED) continue
      examples.shift()
      held -= 1
      return
    }
  }
  return {
    add(group, example) {
      const examples = groups.get(group)
      if (examples) examples.push(example)
      else groups.set(group, [example])
      order.push(group)
      held += 1
      if (held > most) forgetOldest()
      if (first > most) {
        order = order.slice(first)
        first = 0
      }
    },
    of: (group) => [...(groups.get(group) ?? [])].reverse(),
  }
}
