import type { Circuit, CircuitState } from '../diff/evidence/circuit.ts'
import { WEIGHTS } from '../diff/evidence/observation.ts'
import type { Comparison } from '../diff/records/record.ts'
import { type Mode, SERVED_BY } from './choose/mode.ts'
import type { Notes } from './notes.ts'

/** Tells the circuits what is seen of v2. */
export interface CircuitTeller {
  /** Tells of an answer that v2 gave a client. */
  answered(operation: string, failed: boolean): void
  /** Tells of a comparison. */
  compared(mode: Mode, comparison: Pick<Comparison, 'operation' | 'check' | 'outcome'>): void
}

interface TellerParts {
  readonly circuit: Circuit
  readonly note: Notes['note']
}

/** Creates a teller that notes every circuit that opens or closes. */
export function createCircuitTeller({ circuit, note }: TellerParts): CircuitTeller {
  const turned = (operation: string, state: CircuitState | undefined) => {
    if (!state) return
    const isOpen = state.state === 'open'
    const [from, to] = isOpen ? ['closed', 'open'] : ['open', 'closed']
    note({ what: isOpen ? 'circuit' : 'circuit-closed', text: state.reason, operation, by: { source: 'circuit' }, from, to })
  }
  const answered = (operation: string, failed: boolean) => turned(operation, circuit.answered(operation, failed))
  return {
    answered,
    compared(mode, { operation, check, outcome }) {
      if (WEIGHTS[outcome] === 'nothing') return
      const isError = outcome === 'error'
      // An answer that v2 gave a client was told when it was given.
      if (check !== 'read' || SERVED_BY[mode] === 'v1') answered(operation, isError)
      if (!isError) turned(operation, circuit.compared(operation, WEIGHTS[outcome] === 'bad'))
    },
  }
}
