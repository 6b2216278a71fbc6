import { canarySchema } from '../../migrate/modes/rules.ts'
import { createSelect, type Select } from '../../migrate/modes/select.ts'
import { isMode, MODES, type Mode } from '../../serve/sides.ts'
import type { CompareOptions } from '../compare-options.ts'

export interface ChosenModeParts {
  readonly isOpen: () => boolean
  /** Is told that the mode is another one than at the call before. */
  readonly moved: (from: Mode, to: Mode) => void
  readonly warn: (text: string) => void
}

/** Returns the mode of a call by this caller. It never throws: legacy answers if nobody knows the mode. */
export function createChosenMode(
  { name, mode = 'diff-v1', canary }: Pick<CompareOptions, 'name' | 'mode' | 'canary'>,
  { isOpen, moved, warn }: ChosenModeParts,
): (caller: string) => Mode {
  if (typeof mode !== 'function' && !isMode(mode)) throw new Error(`mode of ${name} ${wrongMode(mode)}.`)
  const wrong = canary && wrongCanary(canary)
  if (wrong !== undefined) throw new Error(`The canary of ${name} is wrong: ${wrong}.`)
  const selects = new Map<Mode, Select>()
  const selectOf = (base: Mode) => {
    const select = selects.get(base) ?? createSelect({ default: base, rules: rulesOf(base, canary), testers: [] })
    selects.set(base, select)
    return select
  }
  let last: Mode | undefined
  return (caller) => {
    const base = currentMode(mode, warn)
    if (last !== undefined && last !== base) moved(last, base)
    last = base
    return selectOf(base)({ caller, subject: undefined, operation: name, circuit: isOpen() ? 'open' : 'closed' })
  }
}

function rulesOf(mode: Mode, canary: CompareOptions['canary']) {
  return canary ? [{ operations: '*', clients: '*', mode, canary }] : []
}

function wrongCanary(canary: NonNullable<CompareOptions['canary']>): string | undefined {
  const read = canarySchema.safeParse(canary)
  return read.error?.issues.map(({ path, message }) => [...path, message].join(' ')).join('; ')
}

function currentMode(mode: Mode | (() => Mode), warn: (text: string) => void): Mode {
  if (typeof mode !== 'function') return mode
  try {
    const given = mode()
    if (isMode(given)) return given
    warn(`mode ${wrongMode(given)}; legacy answers`)
  } catch (error) {
    warn(`mode threw ${String(error)}; legacy answers`)
  }
  return 'v1'
}

function wrongMode(given: unknown): string {
  return `is ${JSON.stringify(given)}, but it must be one of ${MODES.join(', ')}`
}
