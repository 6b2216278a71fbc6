import { z } from 'zod'
import { ok, type Pairs, type Route } from './http/route.ts'
import { LAST_TIME } from './messages/message.ts'
import { CODES, malformed } from './status.ts'
import { groupBy, timestamp } from './world/store.ts'

const pointer = z.string().regex(/^(?:\/[^/]+)+$/, 'must be a JSON Pointer such as /repos/0/name; * stands for every row')

const shape = z.strictObject({
  match: z.string().min(1),
  times: z.int().positive().optional(),
  status: z.int().min(200).max(599).optional(),
  delayMs: z.int().nonnegative().optional(),
  reset: z.literal(true).optional(),
  body: z.string().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  /** Removes a member or a row from the answer. */
  drop: pointer.optional(),
  /** Replaces a value. */
  change: z.strictObject({ at: pointer, to: z.unknown() }).optional(),
  /** Makes a list begin this many rows late, like pages that are off by one. */
  shift: z.int().positive().optional(),
})

/** A fault. It hits the next `times` requests (by default every request) whose `METHOD path` starts with `match`. */
export type Fault = z.infer<typeof shape>

const EFFECTS = ['status', 'delayMs', 'reset', 'body', 'drop', 'change', 'shift'] as const

/** Reads the body of `POST /-/faults`. Returns a sentence if the body is wrong. */
const readFault = (body: unknown): Fault | { readonly problem: string } => {
  const result = shape.safeParse(body)
  if (!result.success) return { problem: result.error.issues.map(({ path, message }) => [...path, message].join(': ')).join('; ') }
  const given = EFFECTS.some((effect) => result.data[effect] !== undefined)
  return given ? result.data : { problem: `a fault needs one of ${EFFECTS.join(', ')}` }
}

/** The body of a fault that sets a status alone. */
export const faultStatus = ({ status = 200 }: Fault) => ({
  code: Object.values(CODES).find(({ http }) => http === status)?.code ?? CODES.UNKNOWN.code,
  message: `fault injected: ${status}`,
  details: [],
})

export type Faults = ReturnType<typeof createFaults>

/** Creates an empty list of faults, which are tried in the order of their addition. */
export const createFaults = () => {
  let pending: { readonly fault: Fault; left: number }[] = []
  return {
    add: (fault: Fault): void => {
      pending.push({ fault, left: fault.times ?? Number.POSITIVE_INFINITY })
    },
    clear: (): void => {
      pending = []
    },
    /** The faults to come, in the order of their addition. `times` is how often each is left; without it, for ever. */
    entries: (): readonly Fault[] => pending.map(({ fault, left }) => (Number.isFinite(left) ? { ...fault, times: left } : fault)),
    /** Takes the first fault for this request and counts it down. Undefined if there is none. */
    take: (method: string, path: string): Fault | undefined => {
      const found = pending.find(({ fault }) => `${method} ${path}`.startsWith(fault.match))
      if (!found) return undefined
      found.left -= 1
      if (found.left <= 0) pending = pending.filter((entry) => entry !== found)
      return found.fault
    },
  }
}

const clockBody = z.strictObject({ advanceMs: z.number().nonnegative() })

/** The routes that show what `of` holds, and that empty it. */
const listRoutes = (template: string, of: { readonly entries: () => unknown; readonly clear: () => void }): readonly Route[] => [
  { method: 'GET', template, auth: 'none', handle: () => ok(of.entries()) },
  {
    method: 'DELETE',
    template,
    auth: 'none',
    handle: () => {
      of.clear()
      return ok({})
    },
  },
]

const faultRoute = (faults: Faults): Route => ({
  method: 'POST',
  template: '/-/faults',
  auth: 'none',
  handle: ({ body }) => {
    const fault = readFault(body)
    if ('problem' in fault) return malformed(fault.problem)
    faults.add(fault)
    return ok({})
  },
})

const clockRoute: Route = {
  method: 'POST',
  template: '/-/clock',
  auth: 'none',
  handle: ({ body }, { clock }) => {
    const read = clockBody.safeParse(body)
    if (!read.success) return malformed('the body must be {"advanceMs": <milliseconds, not negative>}')
    if (clock.now().getTime() + read.data.advanceMs > LAST_TIME) return malformed('the clock must stay before the year 10000')
    clock.advance(read.data.advanceMs)
    return ok({ now: timestamp(clock) })
  },
}

/** The endpoints for tests: the journal, the faults, the clock. They are never journaled and never fail on purpose. */
export const controlRoutes = (journal: Journal, faults: Faults): readonly Route[] => [
  ...listRoutes('/-/journal', journal),
  ...listRoutes('/-/faults', faults),
  faultRoute(faults),
  clockRoute,
]

/** A received request, as shown by `GET /-/journal`. Credentials are not kept. */
export type JournalEntry = {
  readonly method: string
  /** Decoded, without the query. */
  readonly path: string
  /** A repeated parameter is an array. */
  readonly query: Readonly<Record<string, string | readonly string[]>>
  /** The JSON body, the text of a body that is not JSON, or null. */
  readonly body: unknown
  /** The method of a gRPC call, `/chainguard.platform.iam.Groups/List`. The other members show the REST request of its http rule. */
  readonly grpc?: string
  /** The sandbox's time, RFC 3339. */
  readonly at: string
}

/** Enough for any test. Without a limit, a sandbox that runs for weeks would fill the memory. */
const LIMIT = 100_000

export type Journal = ReturnType<typeof createJournal>

/** Creates an empty journal. It drops the oldest entries above 100,000. */
export const createJournal = () => {
  let entries: JournalEntry[] = []
  return {
    entries: (): readonly JournalEntry[] => entries,
    record: (entry: JournalEntry): void => {
      entries.push(entry)
      if (entries.length > LIMIT) entries = entries.slice(LIMIT / 10)
    },
    clear: (): void => {
      entries = []
    },
  }
}

/** Query pairs as an object. */
export const queryObject = (pairs: Pairs): JournalEntry['query'] =>
  Object.fromEntries(
    [...groupBy(pairs, ([name]) => name)].map(([name, all]) => [name, all.length === 1 ? all[0]![1] : all.map(([, value]) => value)]),
  )

/** The journal's form of a body. */
export const bodyEntry = (text: string): unknown => {
  if (text === '') return null
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

type Node = Record<string, unknown> | unknown[]

/** Applies a fault's `drop` and `change` to a copy of the body. The original may share rows with the store. */
export const spoiled = (body: unknown, { drop, change }: Fault): unknown => {
  if (body === undefined || (drop === undefined && change === undefined)) return body
  const copy: unknown = structuredClone(body)
  if (drop !== undefined) eachParent(copy, segmentsOf(drop), remove)
  if (change) eachParent(copy, segmentsOf(change.at), (parent, name) => replace(parent, name, change.to))
  return copy
}

/** Makes a list begin late, as a fault's `shift` asks. A page token already determines where its page begins. */
export const shifted = (pairs: Pairs, fault: Fault | undefined): Pairs => {
  const shift = fault?.shift
  if (shift === undefined || pairs.some(([name]) => name === 'page_token' || name === 'pageToken')) return pairs
  const skip = pairs.find(([name]) => name === 'skip')?.[1]
  return [...pairs.filter(([name]) => name !== 'skip'), ['skip', String(Number(skip ?? 0) + shift)]]
}

const segmentsOf = (pointer: string): readonly string[] =>
  pointer
    .slice(1)
    .split('/')
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))

/** Visits every position that the segments lead to. `*` leads to all rows; missing members are skipped. */
const eachParent = (value: unknown, [first = '', ...rest]: readonly string[], visit: (parent: Node, name: string) => void): void => {
  if (typeof value !== 'object' || value === null) return
  const node = value as Node
  const names = first === '*' ? Object.keys(node).reverse() : Object.hasOwn(node, first) ? [first] : []
  for (const name of names) {
    if (rest.length === 0) visit(node, name)
    else eachParent((node as Record<string, unknown>)[name], rest, visit)
  }
}

const remove = (parent: Node, name: string): void => {
  if (Array.isArray(parent)) parent.splice(Number(name), 1)
  else delete parent[name]
}

const replace = (parent: Node, name: string, to: unknown): void => {
  ;(parent as Record<string, unknown>)[name] = to
}
