import type { Facts, FieldFact } from '../facts.ts'
import { readFieldType } from '../field-type.ts'

/** Returns the field at a dotted path of a message: `uidp.descendants_of`. */
export function factAt({ messages }: Facts, message: string, path: string): FieldFact | undefined {
  const dot = path.indexOf('.')
  const fact = messages[message]?.[dot < 0 ? path : path.slice(0, dot)]
  if (!fact || dot < 0) return fact
  return factAt({ messages } as Facts, readFieldType(fact[1])?.of ?? '', path.slice(dot + 1))
}
