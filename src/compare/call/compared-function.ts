import { createHash } from 'node:crypto'
import { COMPARING, type Mode, SERVED_BY } from '../../serve/sides.ts'
import type { ComparisonMeans } from '../comparison-means.ts'
import type { FunctionPair } from '../function-operation.ts'
import { createChosenMode } from './chosen-mode.ts'
import { watchCall } from './compared-call.ts'

type Called = (this: unknown, ...args: unknown[]) => Promise<unknown>

/** Returns a function that answers as the mode says. What the comparison meets never reaches the caller. */
export function comparedFunction(pair: FunctionPair, means: ComparisonMeans): Called {
  const { operation, options, legacy, next, isCompared } = pair
  const { modes, journal, note } = means.migration
  const warn = (text: string) => means.warn(operation.id, text)
  const modeOf = createChosenMode(options, {
    isOpen: () => journal.circuit.isOpen(operation.id),
    moved(from, to) {
      journal.circuit.close((one) => one === operation.id)
      note({ what: 'modes', operation: operation.id, text: `${operation.id}: ${to}`, from, to, by: { source: 'program' } })
    },
    warn,
  })
  const callerOf = (args: readonly unknown[]) => {
    if (!options.caller) return NOBODY
    try {
      return hashOf(options.caller(...args))
    } catch (error) {
      warn(`the option caller threw ${String(error)}`)
      return NOBODY
    }
  }
  const begin = (self: unknown, args: readonly unknown[], caller: string, mode: Mode) => {
    if (!isCompared || !COMPARING.has(mode) || means.isClosed()) return undefined
    return safely(() => watchCall(pair, { self, args, caller, mode }, means), warn)
  }
  const count = (caller: string, mode: Mode) => {
    if (means.isClosed()) return
    modes.heard(operation, caller, OK)
    modes.used({ caller, subject: undefined, credential: caller, mode }, operation, { refused: false, by: SERVED_BY[mode] })
  }
  return async function compared(...args) {
    const caller = callerOf(args)
    const mode = modeOf(caller)
    const watched = begin(this, args, caller, mode)
    try {
      const result = await (SERVED_BY[mode] === 'v1' ? legacy : next).apply(this, args)
      safely(() => watched?.returned(result), warn)
      return result
    } catch (thrown) {
      safely(() => watched?.threw(thrown), warn)
      throw thrown
    } finally {
      safely(() => count(caller, mode), warn)
    }
  }
}

const OK = 200

function hashOf(caller: string): string {
  return createHash('sha256').update(caller).digest('hex').slice(0, 16)
}

/** The caller of calls that nobody tells apart. */
const NOBODY = hashOf('')

/** A fault of comparing must not become one of the caller. */
function safely<T>(run: () => T, warn: (text: string) => void): T | undefined {
  try {
    return run()
  } catch (error) {
    warn(`a comparison failed: ${String(error)}`)
    return undefined
  }
}
