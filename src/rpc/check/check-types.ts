import type { FieldFact } from '../facts.ts'
import { jsonNameOf, readFieldType } from '../field-type.ts'
import { type NamedFacts, wrongFact } from './wrong-fact.ts'

const KEYS: ReadonlySet<string> = new Set(['bool', 'int32', 'int64', 'string', 'uint32'])

/** The types that no facts describe: scalars, and what the library knows of google.protobuf. */
const BUILT_IN: ReadonlySet<string> = new Set([
  ...KEYS,
  'bytes',
  ...['Any', 'Duration', 'Empty', 'FieldMask', 'Timestamp', 'Value'].map((name) => `google.protobuf.${name}`),
])

const HIGHEST = 2 ** 29 - 1

/** Checks what messages, enums and methods say for themselves: known types, numbers in range, no number or name twice. Throws a sentence. */
export function checkTypes(facts: NamedFacts): void {
  for (const [message, fields] of Object.entries(facts.messages)) {
    const seen = new Map<string | number, string>()
    for (const [name, fact] of Object.entries(fields)) {
      checkField(facts, `${message}.${name}`, fact)
      const [number, , more] = fact
      claim(facts, message, seen, name, number)
      claim(facts, message, seen, name, more?.json ?? jsonNameOf(name))
    }
  }
  for (const [name, values] of Object.entries(facts.enums)) checkEnum(facts, name, values)
  for (const [service, methods] of Object.entries(facts.services)) {
    for (const [method, fact] of Object.entries(methods)) {
      for (const type of [fact.in, fact.out]) {
        if (type in facts.messages || type === 'google.protobuf.Empty') continue
        throw wrongFact(facts, `${service}/${method}`, `takes or answers ${type}, which is no message`)
      }
    }
  }
}

/** Two members must share neither a number nor a spelling. */
function claim(facts: NamedFacts, outer: string, seen: Map<string | number, string>, name: string, key: string | number): void {
  const other = seen.get(key)
  if (other !== undefined) throw wrongFact(facts, `${outer}.${name}`, `has ${key}, which ${other} has too`)
  seen.set(key, name)
}

function checkField(facts: NamedFacts, where: string, [number, type, more]: FieldFact): void {
  // From 19000 to 19999 protobuf keeps the numbers for itself.
  if (!Number.isInteger(number) || number < 1 || number > HIGHEST || (number >= 19_000 && number < 20_000)) {
    throw wrongFact(facts, where, `has number ${number}, which no field may have`)
  }
  const parts = readFieldType(type)
  if (!parts || !(BUILT_IN.has(parts.of) || parts.of in facts.messages || parts.of in facts.enums)) {
    throw wrongFact(facts, where, `has type ${type}, which is not known`)
  }
  if (parts.key !== undefined && !KEYS.has(parts.key)) throw wrongFact(facts, where, `has keys of type ${parts.key}`)
  if (more?.oneof !== undefined && (parts.label !== undefined || parts.key !== undefined)) {
    throw wrongFact(facts, where, `has type ${type}, which cannot be in oneof ${more.oneof}`)
  }
}

function checkEnum(facts: NamedFacts, name: string, values: Readonly<Record<string, number>>): void {
  const seen = new Map<string | number, string>()
  for (const [value, number] of Object.entries(values)) {
    if (!Number.isInteger(number) || (number | 0) !== number)
      throw wrongFact(facts, `${name}.${value}`, `has number ${number}, not one of 32 bits`)
    if (seen.size === 0 && number !== 0) throw wrongFact(facts, `${name}.${value}`, `has number ${number}; the first value has 0`)
    claim(facts, name, seen, value, number)
  }
}
