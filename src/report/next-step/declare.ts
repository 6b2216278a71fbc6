import type { Difference } from '../difference.ts'

/** Days for which a suggested rule holds. */
const DAYS = 90

/** Kinds of a difference that can be declared. The others say that there was nothing to compare. */
const DECLARABLE: ReadonlySet<Difference['kind']> = new Set<Difference['kind']>(['status', 'value', 'type', 'missing', 'extra', 'order'])

/** True if the difference can be declared: it counts as wrong, and has a place. */
export function isDeclarable({ kind, state }: Difference): boolean {
  return DECLARABLE.has(kind) && (state === 'unexplained' || state === 'transient')
}

/** Returns a rule of `diff.ignore` for a configuration file: the difference is accepted until a date, without a build. */
export function ignoreText(operation: string, { where, kind, examples }: Difference, now: number): string {
  const [example] = examples
  const place = kind === 'status' ? { at: '', v1: example?.v1, v2: example?.v2 } : { at: where, kinds: [kind] }
  const until = new Date(now + DAYS * 86_400_000).toISOString().slice(0, 10)
  const rule = { operations: operation, ...place, reason: 'Say why clients can accept it.', until }
  return JSON.stringify({ diff: { ignore: [rule] } }, null, 2)
}

/** Returns a row of `mappings/differences.ts`: the difference belongs to what v2 is. */
export function declarationText(operation: string, { where, kind, examples }: Difference): string {
  const [example] = examples
  const place = kind === 'status' ? '' : where
  const values = kind === 'status' ? `, v1: ${JSON.stringify(example?.v1)}, v2: ${JSON.stringify(example?.v2)}` : ''
  return `{
  code: '${codeOf(operation, place)}',
  operations: ['${operation}'],
  seen: 'Say what a client sees.',
  because: 'Say why v2 answers so.',
  test: 'Name the contract case that shows it.',
  signs: [{ at: [${JSON.stringify(place)}], kinds: ['${kind}']${values} }],
},`
}

function codeOf(operation: string, where: string): string {
  return (
    `${operation} ${where || 'status'}`
      .toLowerCase()
      .match(/[a-z0-9]+/g)
      ?.join('-') ?? 'difference'
  )
}
