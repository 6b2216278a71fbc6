import { z } from 'zod'
import { CODES } from '../status.ts'

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
export const readFault = (body: unknown): Fault | { readonly problem: string } => {
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

export type Faults = {
  readonly add: (fault: Fault) => void
  readonly clear: () => void
  /** The faults to come, in the order of their addition. `times` is how often each is left; without it, for ever. */
  readonly entries: () => readonly Fault[]
  /** Takes the first fault for this request and counts it down. Undefined if there is none. */
  readonly take: (method: string, path: string) => Fault | undefined
}

/** Creates an empty list of faults, which are tried in the order of their addition. */
export const createFaults = (): Faults => {
  let pending: { readonly fault: Fault; left: number }[] = []
  return {
    add: (fault) => {
      pending.push({ fault, left: fault.times ?? Number.POSITIVE_INFINITY })
    },
    clear: () => {
      pending = []
    },
    entries: () => pending.map(({ fault, left }) => (Number.isFinite(left) ? { ...fault, times: left } : fault)),
    take: (method, path) => {
      const found = pending.find(({ fault }) => `${method} ${path}`.startsWith(fault.match))
      if (!found) return undefined
      found.left -= 1
      if (found.left <= 0) pending = pending.filter((entry) => entry !== found)
      return found.fault
    },
  }
}
