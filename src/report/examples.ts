import { createHash } from 'node:crypto'
import type { EqualExample, ExampleReport } from './difference.ts'

/** Examples by group. The limit applies to all groups together, but a frequent difference never removes a rare one. */
export interface Examples {
  add(group: string, example: ExampleReport): void
  /** The newest of those that are equal, newest first. */
  of(group: string): readonly ExampleReport[]
}

/** Maximum examples of all groups. */
const MOST = 10_000

/** Examples of each group that are always kept. */
const SPARED = 3

/** Examples of one caller, request and place with the same values. */
interface Equals {
  newest: ExampleReport
  /** The others, oldest first. */
  readonly older: EqualExample[]
}

interface Group {
  /** The one that was seen last comes last. */
  readonly equals: Map<string, Equals>
  held: number
}

export function createExamples(most: number = MOST): Examples {
  const groups = new Map<string, Group>()
  /** The group and the equals of each example, oldest first. Reading starts at `first`. */
  let order: (readonly [group: string, key: string])[] = []
  let first = 0
  let held = 0
  const forgetOldest = () => {
    while (first < order.length) {
      const [name, key] = order[first++] ?? ['', '']
      const group = groups.get(name)
      if (!group || group.held <= SPARED) continue
      if (group.equals.get(key)?.older.shift() === undefined) group.equals.delete(key)
      group.held -= 1
      held -= 1
      return
    }
  }
  return {
    add(name, example) {
      const group = groups.get(name) ?? { equals: new Map<string, Equals>(), held: 0 }
      groups.set(name, group)
      const key = keyOf(example)
      add(group, key, example)
      order.push([name, key])
      held += 1
      if (held > most) forgetOldest()
      if (first > most) {
        order = order.slice(first)
        first = 0
      }
    },
    of: (name) => [...(groups.get(name)?.equals.values() ?? [])].reverse().map(reported),
  }
}

function add(group: Group, key: string, example: ExampleReport): void {
  const known = group.equals.get(key)
  group.equals.delete(key)
  known?.older.push(briefly(known.newest))
  group.equals.set(key, { newest: example, older: known?.older ?? [] })
  group.held += 1
}

function reported({ newest, older }: Equals): ExampleReport {
  return older.length === 0 ? newest : { ...newest, equal: [...older].reverse() }
}

function briefly({ id, at, mode, request, v1Side, v2Side }: ExampleReport): EqualExample {
  return { id, at, mode, ...(request && { request }), ...(v1Side && { v1Side }), v2Side }
}

/** Examples with the same key show the same: only their times, their modes and the values of their parameters differ. */
function keyOf({ caller, subject, shape, check, pointer, v1, v2, v1Side, v2Side, reason }: ExampleReport): string {
  const shown = [caller, subject, shape, check, pointer, v1, v2, v1Side?.status, v2Side.status, reason]
  return createHash('sha1').update(JSON.stringify(shown)).digest('base64')
}
