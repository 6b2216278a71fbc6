import type { EnumRow, Field, Fields, Source } from '../../src/tables/fields.ts'
import type { Operation } from '../../src/tables/operation.ts'
import { camelCase } from '../../src/tables/uid.ts'
import { type FactOperation, type Facts, innerFields, type V1Member } from './facts.ts'
import type { Findings } from './findings.ts'

/** Compares the members of an answer with the published message: names, types, presence, enums, sources. */
export function compareAnswer(facts: Facts, fact: FactOperation, operation: Operation, findings: Findings): void {
  const members = facts.messages.v1[fact.v1.response] ?? []
  const rows = members.find(({ name, repeated }) => repeated && (name === 'items' || name === 'role_bindings'))
  const sources = new Map(fact.responseMap.map((pair) => [pair.v1, pair]))
  const compareFields = (where: string, expected: readonly V1Member[], fields: Fields, prefix: string) => {
    // What only the specification's spelling shows is no part of the published messages.
    const left = new Set(Object.keys(fields).filter((name) => !fields[name]?.only))
    for (const member of expected) {
      const field = fields[member.name]
      left.delete(member.name)
      if (!field || field.access === 'writeOnly') {
        if (!field) findings.missing.push(`${where}: member ${member.name}`)
        continue
      }
      const label = `${where}.${member.name}`
      compareMember(facts, label, member, field, findings)
      const inner = innerFields(field.type)
      if (inner && Object.keys(inner).length > 0)
        compareFields(label, facts.messages.v1[member.type] ?? [], inner, `${prefix}${member.name}${suffix(member)}.`)
      // What an emulation computes has no single source to compare.
      const pair = sources.get(`${prefix}${member.name}${suffix(member)}`)
      if (operation.kind !== 'emulated' && pair?.v2 && !pair.v2Op && !matchesSource(pair.v2, field.source))
        findings.different.push(`${label} reads ${JSON.stringify(field.source)}, the facts say ${pair.v2}`)
    }
    for (const name of left) findings.extra.push(`${where}: member ${name}`)
  }
  // A list of an action stands in its answer as any other member; a List's rows are the answer and the rest is its envelope.
  if (rows && !operation.answer?.fields[rows.name]) {
    compareFields(operation.id, facts.messages.v1[rows.type] ?? [], operation.answer?.fields ?? {}, `${rows.name}[].`)
    compareFields(
      `${operation.id} envelope`,
      members.filter((member) => member !== rows),
      operation.envelope?.fields ?? {},
      '',
    )
  } else {
    compareFields(operation.id, members, operation.answer?.fields ?? {}, '')
  }
}

const SCALARS: Readonly<Record<string, string>> = {
  string: 'text',
  bool: 'flag',
  int32: 'int',
  uint32: 'int',
  int64: 'long',
  Timestamp: 'time',
  Duration: 'duration',
  bytes: 'bytes',
}

function compareMember(facts: Facts, label: string, member: V1Member, field: Field, findings: Findings): void {
  const json = field.json ?? camelCase(member.name)
  if (json !== member.json) findings.different.push(`${label} is published as ${json}, the facts say ${member.json}`)
  const absent = member.omitWhenUnset ? 'optional' : 'implicit'
  if (field.presence !== absent) findings.different.push(`${label} is ${field.presence} when unset, the facts say ${absent}`)
  const container = member.mapKey ? 'map' : member.repeated ? 'list' : undefined
  const type = field.type
  if (container && type.kind !== container) return void findings.different.push(`${label} is a ${type.kind}, the facts say ${container}`)
  const scalar = type.kind === 'list' || type.kind === 'map' ? type.of : type
  const values = Object.values(facts.enums).find(({ v1Enum }) => v1Enum === member.type)
  const kind = SCALARS[member.type] ?? (facts.messages.v1[member.type] ? 'object' : 'choice')
  // Capabilities are strings in v1 and an enum in v2 (facts §18).
  if (scalar.kind !== kind && !(kind === 'text' && scalar.kind === 'choice'))
    findings.different.push(`${label} is ${scalar.kind}, the facts say ${kind}`)
  if (scalar.kind === 'choice' && values) compareEnum(label, scalar.of.rows, values, findings)
}

function compareEnum(label: string, rows: readonly EnumRow[], values: Facts['enums'][string], findings: Findings): void {
  const left = new Map(rows.map(([v1, v2, number]) => [v1, { v2, number }]))
  for (const [v1, v2] of Object.entries(values.v1ToV2)) {
    const row = left.get(v1)
    left.delete(v1)
    if (!row) findings.missing.push(`${label}: enum value ${v1}`)
    else if (row.v2 !== v2 || row.number !== values.v1Numbers[v1])
      findings.different.push(`${label}: ${v1} is ${row.v2} (${row.number}), the facts say ${v2} (${values.v1Numbers[v1]})`)
  }
  for (const v1 of left.keys()) findings.extra.push(`${label}: enum value ${v1}`)
}

function suffix({ mapKey, repeated }: V1Member): string {
  return mapKey ? '{}' : repeated ? '[]' : ''
}

function matchesSource(path: string, source: Source | undefined): boolean {
  if (source === undefined) return false
  if (typeof source !== 'string') return 'firstOf' in source ? source.firstOf.some((one) => matchesSource(path, one)) : true
  const plain = path.replaceAll('[]', '').replaceAll('{}', '')
  return source === '' || plain === source || plain.endsWith(`.${source}`)
}
