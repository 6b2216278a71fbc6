import { expect, it } from 'vitest'
import { isFull } from '../../sample.ts'
import { attackFaults } from './attacks/faults.ts'
import { clientFaults } from './client.ts'
import { doorFaults } from './door.ts'
import { observe } from './fault.ts'
import { processFaults } from './process/faults.ts'
import { upstreamFaults } from './upstream.ts'

/** Every seventh row, unless CROSSWALK_SAMPLE is `full`; `npm run faults` tries all of them. */
const EACH = isFull ? 1 : 7

/** The first row. Node 20, 22 and 24 try a seventh of the rows each, and not the same. */
const FIRST = (Math.floor(Number.parseInt(process.versions.node, 10) / 2) + 2) % EACH

/** Milliseconds; a fault that hangs reports that earlier. */
const PATIENCE = 90_000

const GROUPS = [
  ['upstream', upstreamFaults],
  ['client', clientFaults],
  ['process', processFaults],
  ['attacks', attackFaults],
  ['door', doorFaults],
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
