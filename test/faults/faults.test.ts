import { describe, expect, it } from 'vitest'
import { attackFaults } from './attacks/faults.ts'
import { clientFaults } from './client/faults.ts'
import { observe } from './fault.ts'
import { processFaults } from './process/faults.ts'
import { upstreamFaults } from './upstream/faults.ts'

/** Every other row, unless CROSSWALK_SAMPLE is `full`; `npm run faults` tries all of them. */
const EACH = process.env.CROSSWALK_SAMPLE === 'full' ? 1 : 2

/** The first row. Node 20 and 24 try one half of the rows, Node 22 the other. */
const FIRST = EACH > 1 && process.versions.node.startsWith('22.') ? 1 : 0

/** Milliseconds; a fault that hangs reports that earlier. */
const PATIENCE = 90_000

describe.each([
  ['upstream', upstreamFaults],
  ['client', clientFaults],
  ['process', processFaults],
  ['attacks', attackFaults],
])('%s', (group, faults) => {
  const short = faults.filter(({ full }) => !full).filter((_, nth) => nth % EACH === FIRST)
  it.each(short.map((fault) => [fault.name, fault] as const))(
    '%s',
    async (_, fault) => {
      const row = await observe(group, fault)
      expect(row.holds ? row.expected : row.seen).toBe(row.expected)
    },
    PATIENCE,
  )
})
