import type { Fields } from '../language/field.ts'
import { camelCase } from '../language/names.ts'
import type { Mapping, Operation } from '../operations/operation.ts'
import { readBackProblems } from './check-read-back.ts'

/** Checks the tables at start; throws the first sentence that says what to mend. The router checks routes and `enumMap` checks enums. */
export function checkMappings(mappings: readonly Mapping[]): void {
  for (const problem of mappingProblems(mappings)) throw new Error(problem)
}

/** Yields a sentence for everything that is wrong in the tables. */
export function* mappingProblems(mappings: readonly Mapping[]): Generator<string> {
  const ids = new Map<string, string>()
  for (const { domain, operations } of mappings) {
    for (const operation of operations) {
      const { id, template } = operation
      if (!id.startsWith(`${domain}.`)) yield `operation ${id} stands in the mapping of ${domain}; its id must begin with "${domain}."`
      if (ids.has(id)) yield `operation id ${id} stands twice (${ids.get(id)} and ${template})`
      ids.set(id, template)
      yield* operationProblems(operation)
    }
  }
  yield* readBackProblems(mappings.flatMap(({ operations }) => operations))
}

function* operationProblems(operation: Operation): Generator<string> {
  if (operation.kind === 'v1-only' ? !operation.because : !operation.begin) {
    yield `operation ${operation.id} is ${operation.kind} but has no ${operation.kind === 'v1-only' ? 'reason' : 'plan'}`
  }
  yield* nameProblems(
    `the query of ${operation.id}`,
    [...Object.keys(operation.params), ...operation.ownParams].map((name) => [name, camelCase(name)]),
  )
  for (const message of [operation.request, operation.answer]) if (message) yield* fieldProblems(message.name, message.fields)
}

function* fieldProblems(where: string, fields: Fields): Generator<string> {
  yield* nameProblems(
    where,
    Object.entries(fields).map(([name, field]) => [name, field.json ?? camelCase(name)]),
  )
  const sources = new Map<string, string>()
  for (const [name, { source, access, type, convert }] of Object.entries(fields)) {
    if (access === 'readWrite' && typeof source !== 'string') {
      yield `${where}.${name} is written to v2 but names no single v2 member; make it readOnly or give it one`
    }
    if (convert && access === 'readWrite' && !convert.read) {
      yield `${where}.${name} is written to v2 but converted only for answers; give it read, or make it readOnly`
    }
    if (typeof source === 'string' && source !== '' && access === 'readWrite') {
      const other = sources.get(source)
      if (other) yield `${where}: ${other} and ${name} are both written to the v2 member ${source}`
      sources.set(source, name)
    }
    const inner = type.kind === 'list' || type.kind === 'map' ? type.of : type
    if (inner.kind === 'object') yield* fieldProblems(`${where}.${name}`, inner.fields)
  }
}

/** Two members must not share a spelling: one of them could never be read. */
function* nameProblems(where: string, names: readonly (readonly [string, string])[]): Generator<string> {
  const seen = new Map<string, string>()
  for (const [name, json] of names) {
    for (const spelling of new Set([name, json])) {
      const other = seen.get(spelling)
      if (other !== undefined) yield `${where}: "${spelling}" names two members, ${other} and ${name}`
      seen.set(spelling, name)
    }
  }
}
