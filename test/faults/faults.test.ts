import { expect, it } from 'vitest'
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

const GROUPS = [
  ['upstream', upstreamFaults],
  ['client', clientFaults],
  ['process', processFaults],
  ['attacks', attackFaults],
] as const

const short = GROUPS.flatMap(([group, faults]) =>
  faults.filter(({ full }) => !full).map((fault) => [`${group}: ${fault.name}`, group, fault] as const),
)

it.each(short.filter((_, nth) => nth % EACH === FIRST))(
  '%s',
  async (_, group, fault) => {
    const row = await observe(group, fault)
    expect(row.holds ? row.expected : row.seen).toBe(row.expected)
  },
  PATIENCE,
)
