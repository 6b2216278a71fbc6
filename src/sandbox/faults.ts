import { z } from 'zod'

const shape = z.strictObject({
  match: z.string().min(1),
  times: z.int().positive().optional(),
  status: z.int().min(200).max(599).optional(),
  delayMs: z.int().nonnegative().optional(),
  reset: z.literal(true).optional(),
  body: z.string().optional(),
  headers: z.record(z.string(), z.string()).optional(),
})

/** What goes wrong, for the next `times` requests whose `METHOD path` starts with `match` (every one when `times` is not given). */
export type Fault = z.infer<typeof shape>

/** Reads the body of `POST /-/faults`; the sentence says what is wrong with it. */
export const readFault = (body: unknown): Fault | { readonly problem: string } => {
  const result = shape.safeParse(body)
  if (!result.success) return { problem: result.error.issues.map(({ path, message }) => [...path, message].join(': ')).join('; ') }
  const { status, delayMs, reset, body: text } = result.data
  const given = [status, delayMs, reset, text].some((effect) => effect !== undefined)
  return given ? result.data : { problem: 'a fault needs one of status, delayMs, reset, body' }
}

export type Faults = {
  readonly add: (fault: Fault) => void
  readonly clear: () => void
  /** The first fault for this request, counted down; undefined when nothing shall go wrong. */
  readonly take: (method: string, path: string) => Fault | undefined
}

/** No faults yet. Faults are tried in the order they were added. */
export const createFaults = (): Faults => {
  let pending: { readonly fault: Fault; left: number }[] = []
  return {
    add: (fault) => {
      pending.push({ fault, left: fault.times ?? Number.POSITIVE_INFINITY })
    },
    clear: () => {
      pending = []
    },
    take: (method, path) => {
      const found = pending.find(({ fault }) => `${method} ${path}`.startsWith(fault.match))
      if (!found) return undefined
      found.left -= 1
      if (found.left <= 0) pending = pending.filter((entry) => entry !== found)
      return found.fault
    },
  }
}
