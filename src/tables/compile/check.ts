import type { Fields } from '../language/field.ts'
import { camelCase } from '../language/names.ts'
import type { Message } from '../language/resource.ts'
import type { Mapping, Operation } from '../operations/operation.ts'
import { checkReadBacks } from './check-read-back.ts'

/** Checks the tables at start; throws a sentence that says what to mend. The router checks routes and `enumMap` checks enums. */
export function checkMappings(mappings: readonly Mapping[]): void {
  const ids = new Map<string, string>()
  for (const { domain, operations } of mappings) {
    for (const operation of operations) {
      if (!operation.id.startsWith(`${domain}.`))
        throw new Error(`operation ${operation.id} stands in the mapping of ${domain}; its id must begin with "${domain}."`)
      if (ids.has(operation.id))
        throw new Error(`operation id ${operation.id} stands twice (${ids.get(operation.id)} and ${operation.template})`)
      ids.set(operation.id, operation.template)
      checkOperation(operation)
    }
  }
  checkReadBacks(mappings.flatMap(({ operations }) => operations))
}

function checkOperation(operation: Operation): void {
  if (operation.kind === 'v1-only' ? !operation.because : !operation.begin) {
    throw new Error(`operation ${operation.id} is ${operation.kind} but has no ${operation.kind === 'v1-only' ? 'reason' : 'plan'}`)
  }
  checkNames(
    `the query of ${operation.id}`,
    [...Object.keys(operation.params), ...operation.ownParams].map((name) => [name, camelCase(name)]),
  )
  for (const message of [operation.request, operation.answer]) if (message) checkMessage(message)
}

function checkMessage({ name, fields }: Message): void {
  checkFields(name, fields)
}

function checkFields(where: string, fields: Fields): void {
  checkNames(
    where,
    Object.entries(fields).map(([name, field]) => [name, field.json ?? camelCase(name)]),
  )
  const sources = new Map<string, string>()
  for (const [name, field] of Object.entries(fields)) {
    const { source, access, type } = field
    if (access === 'readWrite' && typeof source !== 'string') {
      throw new Error(`${where}.${name} is written to v2 but names no single v2 member; make it readOnly or give it one`)
    }
    if (field.convert && access === 'readWrite' && !field.convert.read) {
      throw new Error(`${where}.${name} is written to v2 but converted only for answers; give it read, or make it readOnly`)
    }
    if (typeof source === 'string' && source !== '' && access === 'readWrite') {
      const other = sources.get(source)
      if (other) throw new Error(`${where}: ${other} and ${name} are both written to the v2 member ${source}`)
      sources.set(source, name)
    }
    const inner = type.kind === 'list' || type.kind === 'map' ? type.of : type
    if (inner.kind === 'object') checkFields(`${where}.${name}`, inner.fields)
  }
}

/** Two members must not share a spelling: one of them could never be read. */
function checkNames(where: string, names: readonly (readonly [string, string])[]): void {
  const seen = new Map<string, string>()
  for (const [name, json] of names) {
    for (const spelling of new Set([name, json])) {
      const other = seen.get(spelling)
      if (other !== undefined) throw new Error(`${where}: "${spelling}" names two members, ${other} and ${name}`)
      seen.set(spelling, name)
    }
  }
}
