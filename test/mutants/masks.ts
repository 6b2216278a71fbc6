import type { Operation } from '../../src/tables/operation.ts'
import type { MaskRule, Message, Resource } from '../../src/tables/resource.ts'
import { messagesOf } from './fields.ts'
import { type Mutant, overwrite } from './mutant.ts'

type Paths = Exclude<MaskRule, '*'>

/** Each path of each field mask left out, and `*` replaced by a mask of nothing. */
export function maskMutants(operations: readonly Operation[]): readonly Mutant[] {
  const writers = operations.filter(({ mask }) => mask)
  const rules = [...new Set(writers.map(({ mask }) => mask))].filter((mask): mask is Paths => typeof mask === 'object')
  const usersOf = (rule: MaskRule) => writers.filter(({ mask }) => mask === rule).map(({ id }) => id)
  return [
    ...rules.flatMap((rule) => [
      ...rule.always.map((path) => without(rule, 'always', path, usersOf(rule))),
      ...(rule.whenSet ?? []).map((path) => without(rule, 'whenSet', path, usersOf(rule))),
    ]),
    ...messagesOf(operations)
      .filter((table): table is Resource => (table as Partial<Resource> & Message).mask === '*')
      .flatMap((table) => {
        const written = writersOf(table, operations)
        const apply = () => overwrite(table, { mask: { always: [], because: 'a fault' } })
        return written.length > 0 ? [{ name: `${table.name}: * replaced by nothing`, operations: written, apply }] : []
      }),
  ]
}

function without(rule: Paths, list: 'always' | 'whenSet', path: string, operations: readonly string[]): Mutant {
  const left = (rule[list] ?? []).filter((other) => other !== path)
  return { name: `${operations[0]} mask: ${path} left out`, operations, apply: () => overwrite(rule, { [list]: left }) }
}

/** PUTs of the resource that a list shows: they share the first words of their ids. */
function writersOf(table: Resource, operations: readonly Operation[]): readonly string[] {
  const shown = operations.filter(({ answer, rows }) => answer === table && rows).map(({ id }) => id.slice(0, id.lastIndexOf('.')))
  return operations.filter(({ id, mask }) => mask === '*' && shown.includes(id.slice(0, id.lastIndexOf('.')))).map(({ id }) => id)
}
