import { streamAttacks } from '../attacks/streams.ts'
import type { Fault } from '../fault.ts'
import { leftFaults } from './left.ts'

/** What strangers, neighbours and hosts may not do to the rooms that came last: streams, library, store and workers. */
export const doorFaults: readonly Fault[] = [...streamAttacks, ...leftFaults]
