import { streamAttacks } from '../attacks/streams.ts'
import type { Fault } from '../fault.ts'
import { callerAttacks } from './callers.ts'
import { fileAttacks } from './files.ts'
import { leftFaults } from './left.ts'

/** What strangers, neighbours and files of others may not do to the rooms that came last. */
export const doorFaults: readonly Fault[] = [...streamAttacks, ...leftFaults, ...callerAttacks, ...fileAttacks]
