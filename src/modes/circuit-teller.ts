import type { Sample } from '../diff/evidence/bound.ts'
import type { Circuit, CircuitState, Rate } from '../diff/evidence/circuit.ts'
import { WEIGHTS } from '../diff/evidence/observation.ts'
import type { Comparison } from '../diff/records/record.ts'
import { type Mode, SERVED_BY } from '../serve/sides.ts'
import type { Notes } from './notes.ts'

/** Tells the circuits what is seen of v2. */
export interface CircuitTeller {
  /** Tells of an answer that v2 gave a client. */
  answered(operation: string, failed: boolean): void
  /** Tells of a comparison. */
  compared(mode: Mode, comparison: Pick<Comparison, 'operation' | 'check' | 'outcome'>): void
  /** Tells of what other replicas saw of one rate. */
  heard(operation: string, rate: Rate, others: Sample): void
  /** Tells a follower of what happens here. There is one at most. */
  follow(follower: CircuitFollower): void
}

/** Shares with other replicas what happens to the circuits of this process. */
export interface CircuitFollower {
  /** Is told that observations opened or closed a circuit. It calls `note` if this replica is the one to note that. */
  turned(operation: string, note: () => void): void
  /** Is told of each bad observation. */
  bad(): void
}

interface TellerParts {
  readonly circuit: Circuit
  readonly note: Notes['note']
}

/** Creates a teller that notes every circuit that opens or closes. */
export function createCircuitTeller({ circuit, note }: TellerParts): CircuitTeller {
  let follower: CircuitFollower | undefined
  const turned = (operation: string, state: CircuitState | undefined) => {
    if (!state) return
    const isOpen = state.state === 'open'
    const [from, to] = isOpen ? ['closed', 'open'] : ['open', 'closed']
    const made = {
      what: isOpen ? 'circuit' : 'circuit-closed',
      text: state.reason,
      operation,
      by: { source: 'circuit' },
      from,
      to,
    } as const
    if (follower) follower.turned(operation, () => note(made))
    else note(made)
  }
  const answered = (operation: string, failed: boolean) => {
    turned(operation, circuit.answered(operation, failed))
    if (failed) follower?.bad()
  }
  return {
    answered,
    compared(mode, { operation, check, outcome }) {
      if (WEIGHTS[outcome] === 'nothing') return
      const isError = outcome === 'error'
      // An answer that v2 gave a client was told when it was given.
      if (check !== 'read' || SERVED_BY[mode] === 'v1') answered(operation, isError)
      if (isError) return
      const isBad = WEIGHTS[outcome] === 'bad'
      turned(operation, circuit.compared(operation, isBad))
      if (isBad) follower?.bad()
    },
    heard: (operation, rate, others) => turned(operation, circuit.heard(operation, rate, others)),
    follow(one) {
      follower = one
    },
  }
}
