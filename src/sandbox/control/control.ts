import { z } from 'zod'
import { ok, type Route } from '../http/route.ts'
import { malformed } from '../status.ts'
import { timestamp } from '../world/clock.ts'
import { type Faults, readFault } from './faults.ts'
import type { Journal } from './journal.ts'

const clockBody = z.strictObject({ advanceMs: z.number().nonnegative() })

const journalRoutes = (journal: Journal): readonly Route[] => [
  { method: 'GET', template: '/-/journal', auth: 'none', handle: () => ok(journal.entries()) },
  {
    method: 'DELETE',
    template: '/-/journal',
    auth: 'none',
    handle: () => {
      journal.clear()
      return ok({})
    },
  },
]

const faultRoutes = (faults: Faults): readonly Route[] => [
  { method: 'GET', template: '/-/faults', auth: 'none', handle: () => ok(faults.entries()) },
  {
    method: 'POST',
    template: '/-/faults',
    auth: 'none',
    handle: ({ body }) => {
      const fault = readFault(body)
      if ('problem' in fault) return malformed(fault.problem)
      faults.add(fault)
      return ok({})
    },
  },
  {
    method: 'DELETE',
    template: '/-/faults',
    auth: 'none',
    handle: () => {
      faults.clear()
      return ok({})
    },
  },
]

const clockRoute: Route = {
  method: 'POST',
  template: '/-/clock',
  auth: 'none',
  handle: ({ body }, { clock }) => {
    const read = clockBody.safeParse(body)
    if (!read.success) return malformed('the body must be {"advanceMs": <milliseconds, not negative>}')
    clock.advance(read.data.advanceMs)
    return ok({ now: timestamp(clock) })
  },
}

/** The endpoints for tests: the journal, the faults, the clock. They are never journaled and never fail on purpose. */
export const controlRoutes = (journal: Journal, faults: Faults): readonly Route[] => [
  ...journalRoutes(journal),
  ...faultRoutes(faults),
  clockRoute,
]
