import { type ClientUses, type CutoverQuestion, type CutoverScope, coversClient, coversUse } from '../migrate/evidence/cutover.ts'
import { suggestion } from '../tables/check.ts'
import { type Flag, type Flags, textsOf } from './command.ts'

/** The flag that limits a question to some operations. */
export const operationsFlag = {
  operations: { help: 'Only operations that this pattern covers, such as iam.* or *.list; may be repeated', value: 'PATTERN', more: true },
} as const

/** The flags that limit a question to some operations or clients. */
export const scopeFlags: Readonly<Record<string, Flag>> = {
  ...operationsFlag,
  clients: {
    help: 'Only operations that this client calls: its hash or its subject, with * as any text; may be repeated',
    value: 'CLIENT',
    more: true,
  },
}

export function scopeOf(flags: Flags): CutoverScope {
  return { operations: textsOf(flags, 'operations'), clients: textsOf(flags, 'clients') }
}

/** Returns a sentence about a pattern that covers no operation. `known` are operation ids. */
export function unfitOperations({ operations }: CutoverScope, known: readonly string[]): string | undefined {
  const unfit = operations.find((pattern) => !known.some((use) => coversUse(pattern, use)))
  if (unfit === undefined) return undefined
  const patterns = [...known, ...new Set(known.flatMap(patternsFor))]
  return `--operations ${JSON.stringify(unfit)} fits no operation; ${suggestion(unfit, patterns, 'crosswalk operations lists them.')}`
}

/** `iam.*`, `iam.groups.*` and `*.list` for `iam.groups.list`. */
function patternsFor(operation: string): readonly string[] {
  const words = operation.split('.')
  return [...words.slice(1).map((_, at) => `${words.slice(0, at + 1).join('.')}.*`), `*.${words.at(-1)}`]
}

/** Returns a sentence about a pattern that covers no client. */
export function unfitClients({ clients: patterns }: CutoverScope, known: CutoverQuestion['clients']): string | undefined {
  const unfit = patterns.find((pattern) => !known.some((client) => coversClient(pattern, client)))
  if (unfit === undefined) return undefined
  const names = known.flatMap(namesOf)
  return `--clients ${JSON.stringify(unfit)} fits no client that was seen; ${suggestion(unfit, names, 'crosswalk clients lists them.')}`
}

function namesOf({ caller, subject }: ClientUses): readonly string[] {
  return subject === undefined ? [caller] : [caller, subject]
}
