import type { ModesState } from '../migrate/modes/modes.ts'
import type { RolloutStatus } from '../migrate/rollout/machine.ts'

/** What a running proxy does now. A report of record files has none. */
export interface InForce extends ModesState {
  /** When the process began to serve, in milliseconds since 1970: another time is another process. */
  readonly startedAt: number
  /** Rollouts of the rules, in their order. */
  readonly rollouts: readonly RolloutStatus[]
  /** Why each open circuit opened, by operation id. */
  readonly circuits: Readonly<Record<string, string>>
  /** Operations that v1 answers if no rule names them, because v2 can only emulate them (setting `emulated`). */
  readonly v1First: readonly string[]
  /** False if there is no v1 service, so that v2 answers everything whatever the rules say. */
  readonly hasV1: boolean
}
