import { createShelves, type Shelves } from '../memory/shelves.ts'

/** The first member of such a file, so that no other file is taken for one. */
const FORMAT = 'crosswalk store 1'

/** Not heartbeats, leases and numbers of batches: they belong to a process that has ended. */
const SAVED = ['sums', 'texts', 'logs', 'documents', 'claims', 'members'] as const

/** Maps and sets have one member in JSON, which nothing else on a shelf has. */
const MAP = '$map'
const SET = '$set'

export function encodeShelves(shelves: Shelves): string {
  const saved = SAVED.map((name) => [name, shelves[name].entries()] as const)
  return JSON.stringify({ format: FORMAT, ...Object.fromEntries(saved) }, (_, value: unknown) => {
    if (value instanceof Map) return { [MAP]: [...value] }
    if (value instanceof Set) return { [SET]: [...value] }
    return value
  })
}

/** Returns undefined if the text is not of such a file, or is cut off. */
export function decodeShelves(text: string, now: () => number): Shelves | undefined {
  const read = parse(text)
  if (read?.format !== FORMAT || !SAVED.every((name) => Array.isArray(read[name]))) return undefined
  const shelves = createShelves(now)
  for (const name of SAVED) {
    // JSON has no infinity: a document is kept until it is replaced.
    for (const [key, thing, untilMs] of read[name] as Entry[]) shelves[name].set(key, thing, untilMs ?? Number.POSITIVE_INFINITY)
  }
  return shelves
}

type Entry = readonly [key: string, thing: never, untilMs: number | null]

function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(text, (_, value) => {
      if (Array.isArray(value?.[MAP])) return new Map(value[MAP])
      if (Array.isArray(value?.[SET])) return new Set(value[SET])
      return value
    })
  } catch {
    return undefined
  }
}
