import { z } from 'zod'
import { tooDeep } from '../../files.ts'
import { WEIGHTS } from '../evidence/evidence.ts'
import type { Actor, Entry } from './record.ts'

/** The most differences of one kind and place that a comparison counts: more than an answer of `diff.answerBytes` can hold. */
const MOST = 1_000_000

const time = z.string().refine((at) => !Number.isNaN(Date.parse(at)))
const count = z.int().min(0)
const id = z.string().optional()
const caller = z.string()
const operation = z.string()
const status = z.looseObject({ status: z.number() })

const given = z.array(z.union([z.tuple([z.string()]), z.tuple([z.string(), z.string()])]))

/** Members that records of older versions lack are optional. Those of newer versions are kept as they are. */
export const comparisonSchema = z.looseObject({
  kind: z.literal('comparison'),
  id: z.string().min(1),
  at: time,
  caller,
  operation,
  mode: z.string(),
  shape: z.string(),
  check: z.enum(['read', 'after-write', 'write']),
  outcome: z.enum(['match', 'expected', 'noise', 'race', 'mismatch', 'transient', 'error', 'inconclusive']),
  weight: z.number().positive().max(Number.MAX_SAFE_INTEGER).optional(),
  reason: z.string().optional(),
  totals: z.array(z.looseObject({ kind: z.string(), where: z.string(), code: z.string().optional(), count: count.max(MOST) })),
  examples: z.array(z.looseObject({ kind: z.string(), where: z.string(), at: z.string() })),
  v1: status.optional(),
  v2: status,
})

const rehearsalSchema = comparisonSchema
  .pick({ id: true, at: true, caller: true, operation: true, shape: true, outcome: true, reason: true, totals: true })
  .extend({ kind: z.literal('rehearsal') })
  .loose()

const actor = z.object({ source: z.string(), ...{ token: id, address: id, path: id } })

/** Who changed something. A later version may know other sources. */
export const actorSchema = z.custom<Actor>((value) => actor.safeParse(value).success)

export const noteSchema = z.looseObject({
  ...{ kind: z.literal('note'), id, at: time, what: z.string(), text: z.string() },
  by: actorSchema.optional(),
})

const kind = z.looseObject({
  shape: z.string(),
  samples: count,
  path: given,
  query: given,
  members: z.array(z.string()).optional(),
  unknown: z.number().optional(),
})

const entrySchema = z.discriminatedUnion('kind', [
  comparisonSchema,
  rehearsalSchema,
  noteSchema,
  z.looseObject({
    ...{ kind: z.literal('traffic'), id, at: time, caller, operation, mode: z.string(), protocol: z.string().optional() },
    ...{ subject: z.string().optional(), calls: count, requests: z.array(kind).optional() },
    agents: z.array(z.string().max(80)).optional(),
  }),
  z.looseObject({
    ...{ kind: z.literal('tally'), id, at: time, operation, comparisons: count.optional() },
    ...{ repeats: z.record(z.string(), z.number()).optional(), uncompared: z.record(z.string(), count).optional() },
    booked: z.record(z.string(), count).optional(),
  }),
  z.looseObject({
    ...{ kind: z.literal('would-send'), id, at: time, caller, operation, shape: z.string() },
    call: z.looseObject({ method: z.string(), path: z.string(), query: z.array(z.tuple([z.string(), z.unknown()])) }),
  }),
  z.looseObject({ kind: z.literal('rollout'), id, at: time, name: z.string(), digest: z.string() }),
])

/** Levels of an entry that no function minds. A line with no more characters has no more levels. */
const SHALLOW = 1000

/**
 * Returns the entry of a line. Undefined for a line that a crash or a full disk tore, that another program wrote, or that holds what no
 * entry holds: it is counted and skipped, and the others go on.
 */
export function entryOf(line: string): Entry | undefined {
  try {
    if (line.length > SHALLOW && tooDeep(line, SHALLOW) !== undefined) return undefined
    const value: unknown = JSON.parse(line)
    return entrySchema.safeParse(value).success ? (value as Entry) : undefined
  } catch {
    return undefined
  }
}

/** What a lasting line contains. Few do, and the others need not be parsed. */
const MAY_LAST = /"outcome":"(?:mismatch|transient|error)"|"bad":[1-9]|"what":"epoch"/

/** Calls that v1 answered. No evidence tells of them. */
const OF_V1 = /^\{"kind":"traffic".*"mode":"v1"/s

/** What differs from one record of a use to the next. */
const VARIES = /"(?:id|at)":"[^"]*"|"(?:calls|samples)":\d+/g

/**
 * Returns what of a record file a restart must still know when the file is gone, or v1 would seem less needed by it: the newest wrong
 * answers, the newest record of each use of v1, and the epoch that a person began last, which ends the wrong answers before it.
 */
export async function lastingLines(lines: AsyncIterable<string>, most: number): Promise<readonly string[]> {
  let epoch: string[] = []
  let wrong = createNewest(most)
  const uses = createNewest(most)
  for await (const line of lines) {
    if (OF_V1.test(line)) uses.add(line.replace(VARIES, ''), line)
    const entry = MAY_LAST.test(line) ? entryOf(line) : undefined
    if (entry?.kind === 'note' && entry.what === 'epoch') [epoch, wrong] = [[line], createNewest(most)]
    const short = entry && wrongLine(entry, line)
    if (short !== undefined) wrong.add(short, short)
  }
  return [...epoch, ...wrong.lines(), ...uses.lines()]
}

/** Keeps the newest line of each key, and the newest lines of all, up to a length. */
function createNewest(most: number) {
  const lines = new Map<string, string>()
  let length = 0
  const drop = (key: string) => {
    length -= lines.get(key)?.length ?? 0
    lines.delete(key)
  }
  return {
    add(key: string, line: string) {
      drop(key)
      lines.set(key, line)
      length += line.length
      for (const oldest of lines.keys()) {
        if (length <= most) return
        drop(oldest)
      }
    },
    lines: () => lines.values(),
  }
}

/** Returns the line of what counts against v2, without what people look at. */
function wrongLine(entry: Entry, line: string): string | undefined {
  if (entry.kind === 'tally') return (entry.repeats?.bad ?? 0) > 0 ? line : undefined
  if (entry.kind !== 'comparison' && entry.kind !== 'rehearsal') return undefined
  if (WEIGHTS[entry.outcome] !== 'bad') return undefined
  return JSON.stringify({ ...entry, examples: [], request: undefined, answers: undefined, exhibit: undefined })
}
