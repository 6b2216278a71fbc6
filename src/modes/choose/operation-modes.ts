import { BY_V1, type Mode } from '../../serve/sides.ts'
import { isV2Canary, type ModeRules, patternsOf } from './rules.ts'
import { fits } from './select.ts'

/** The mode of an operation for every client that no rule names. */
export interface OperationMode {
  readonly operation: string
  readonly mode: Mode
  /** A share of these clients, 0–100, gets another mode. */
  readonly canary?: { readonly mode: Mode; readonly percent: number }
}

/** What has to be known of an operation. */
interface Chosen {
  readonly id: string
  /** v1 answers if no rule fits. */
  readonly isV1First: boolean
}

/** Returns the modes of operations, with the shares in force: that of an operation with an open circuit is 0. */
export function operationModes(
  { default: byDefault, rules }: ModeRules,
  operations: readonly Chosen[],
  isOpen: (operation: string) => boolean,
): readonly OperationMode[] {
  const forAll = rules.filter(({ clients }) => patternsOf(clients).includes('*'))
  return operations.map(({ id: operation, isV1First }) => {
    const rule = forAll.find((one) => fits(one.operations, operation))
    if (!rule) return { operation, mode: isV1First ? BY_V1[byDefault] : byDefault }
    const { mode, canary } = rule
    if (canary?.percent === undefined) return { operation, mode }
    const percent = isV2Canary(rule) && isOpen(operation) ? 0 : canary.percent
    return { operation, mode, canary: { mode: canary.mode, percent } }
  })
}
