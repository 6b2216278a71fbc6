import type { ExampleReport } from './difference.ts'

/** Examples by group, bounded over all groups together: a frequent difference never pushes a rare one out. */
export interface Examples {
  add(group: string, example: ExampleReport): void
  /** Newest first. */
  of(group: string): readonly ExampleReport[]
}

/** Examples kept over all. */
const MOST = 10_000

/** So many of each group stay, however many others come. */
const SPARED = 3

export function createExamples(most: number = MOST): Examples {
  const groups = new Map<string, ExampleReport[]>()
  /** The group of each example, oldest first; read from `first` on. */
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
