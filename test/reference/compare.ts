import type { EnumRow, Fields } from '../../src/tables/fields.ts'
import type { Mapping, Operation } from '../../src/tables/operation.ts'
import { WINDOW_PARAMETERS } from '../../src/tables/pages.ts'
import { asParam, ORDER_PARAMETER } from '../../src/tables/query.ts'
import { snakeCase, variablesOf } from '../../src/tables/uid.ts'
import { type FactOperation, type Facts, innerFields, shapeOf } from './facts.ts'
import { type Findings, noFindings } from './findings.ts'
import { compareAnswer } from './members.ts'

/** Query parameters of the specification's v1 that no proto has (specification §9.5). */
const SPECIFICATION_ONLY = new Set([ORDER_PARAMETER, ...WINDOW_PARAMETERS])

/** Compares every operation of the mapped domains with the facts: routes, kinds, parameters, members, types, enums, masks. */
export function compare(facts: Facts, mappings: readonly Mapping[]): Findings {
  const findings = noFindings()
  const operations = mappings.flatMap((mapping) => mapping.operations)
  const byRoute = new Map(operations.map((operation) => [`${operation.method} ${shapeOf(operation.template)}`, operation]))
  const domains = new Set(mappings.map(({ domain }) => domain))
  for (const fact of facts.operations.filter(({ domain }) => domains.has(domain))) {
    const route = `${fact.v1.method} ${shapeOf(fact.v1.protoPath)}`
    const operation = byRoute.get(route)
    byRoute.delete(route)
    if (operation) compareOperation(facts, fact, operation, findings)
    else findings.missing.push(`operation ${fact.id}: ${route}`)
  }
  for (const { v1, kind } of facts.missingFromOpenapi) {
    const route = `${v1.method} ${shapeOf(v1.path)}`
    if (byRoute.get(route)?.kind !== kind) findings.missing.push(`operation ${v1.rpc}: ${route}`)
    byRoute.delete(route)
  }
  const described = new Set(facts.operations.map(({ domain }) => domain))
  for (const mapping of mappings.filter(({ domain }) => !described.has(domain)))
    for (const { method, template } of mapping.operations) byRoute.delete(`${method} ${shapeOf(template)}`)
  for (const [route, { id }] of byRoute) findings.extra.push(`operation ${id}: ${route}`)
  return findings
}

function compareOperation(facts: Facts, fact: FactOperation, operation: Operation, findings: Findings): void {
  if (fact.kind !== operation.kind) findings.different.push(`${operation.id} is ${operation.kind}, the facts say ${fact.kind}`)
  compareVariables(fact, operation, findings)
  const isOpen = operation.takesNoToken ?? false
  if (isOpen === fact.v1.auth.auth) findings.different.push(`${operation.id} asks for a token: ${!isOpen}, the facts say otherwise`)
  if (operation.kind === 'v1-only') return
  const calls = operation.calls.map((call) => shapeOf(call.replaceAll(/\{[^}]+\}/g, '{x=**}')).replaceAll('{**}', '{}'))
  const primary = `${fact.v2?.method} ${shapeOf(fact.v2?.protoPath ?? '').replaceAll('{**}', '{}')}`
  if (!calls.includes(primary)) findings.different.push(`${operation.id} never calls ${primary}`)
  const known = new Set([...Object.keys(operation.params), ...operation.ownParams])
  for (const { name } of fact.v1.queryParams) if (!known.delete(name)) findings.missing.push(`${operation.id}: query parameter ${name}`)
  compareV1Values(facts, fact, operation, findings)
  for (const name of known) if (!SPECIFICATION_ONLY.has(name)) findings.extra.push(`${operation.id}: query parameter ${name}`)
  compareAnswer(facts, fact, operation, findings)
  compareRequest(fact, operation, findings)
  compareMask(fact, operation, findings)
  if (operation.orders) compareOrders(operation.id, operation.orders.rows, facts.orderBy, findings)
}

/** Errors name path variables, so that their names count, not their number alone. */
function compareVariables({ v1 }: FactOperation, { id, template }: Operation, findings: Findings): void {
  const names = v1.pathParams.map(({ proto }) => proto.slice(proto.lastIndexOf('.') + 1)).join(', ')
  const variables = variablesOf(template).join(', ')
  if (names !== variables) findings.different.push(`${id} has the path variables ${variables || 'none'}, the facts say ${names || 'none'}`)
}

/** Query parameters that v2 lacks, or of which it lacks values, are v1's alone. `order_by` has a table of its own, an id becomes a path. */
function compareV1Values(facts: Facts, { v1, queryMap = [] }: FactOperation, { id, params }: Operation, findings: Findings): void {
  for (const { name, type } of v1.queryParams) {
    const row = params[name]
    const pair = queryMap.find((one) => one.v1 === name)
    const values = Object.values(facts.enums).find(({ v1Enum }) => v1Enum.endsWith(type.replace('repeated ', '.')))
    const lacking = values ? Object.entries(values.v1Numbers).filter(([value]) => values.v1ToV2[value] === undefined) : []
    const param = row === undefined ? undefined : asParam(row)
    compareTexts(`${id}?${name} leaves to v1`, String(param?.of?.v1Only ?? ''), String(lacking), findings)
    const isLacking = pair !== undefined && pair.v2 === null && pair.v2Op === undefined && type === 'bool' && v1.method === 'GET'
    if (isLacking !== (param?.v1Only !== undefined))
      findings.different.push(`${id}?${name} is v1's alone: ${!isLacking}, the facts say otherwise`)
  }
}

/** v1's sort orders by name, in the order of their numbers, with what v2 calls them (facts §18). */
function compareOrders(id: string, rows: readonly EnumRow[], orders: Facts['orderBy'], findings: Findings): void {
  const own = rows.map(([v1, v2, number]) => `${number} ${v1} ${v2}`).join(', ')
  compareTexts(
    `${id} sorts by`,
    own,
    Object.entries(orders)
      .map(([v1, v2], number) => `${number} ${v1} ${v2}`)
      .join(', '),
    findings,
  )
}

/** `*` where the facts call it safe; otherwise exactly their paths, the conditional ones under a condition (facts §13.2). */
function compareMask({ updateMask }: FactOperation, { id, mask }: Operation, findings: Findings): void {
  const { alwaysJson, conditional = {}, wildcard } = updateMask ?? {}
  if (!alwaysJson) {
    if (mask) findings.extra.push(`${id}: a field mask`)
  } else if (!mask) findings.missing.push(`${id}: a field mask`)
  else if (mask === '*') {
    if (!wildcard?.startsWith('safe')) findings.different.push(`${id} replaces by *, the facts say ${wildcard}`)
  } else {
    const paths = (rule: readonly string[]) => rule.map(snakeCase).sort().join(', ')
    compareTexts(`${id} always names`, paths(mask.always), paths(alwaysJson), findings)
    compareTexts(`${id} names when set`, paths(mask.whenSet ?? []), paths(Object.keys(conditional)), findings)
  }
}

function compareTexts(label: string, own: string, facts: string, findings: Findings): void {
  if (own !== facts) findings.different.push(`${label} ${own || 'nothing'}, the facts say ${facts || 'nothing'}`)
}

/** Members of a v1 body: each one that has a v2 place is written there, each one without is dropped. */
function compareRequest(fact: FactOperation, operation: Operation, findings: Findings): void {
  const written = new Set(operation.request ? writtenPaths(operation.request.fields, '') : [])
  for (const pair of fact.requestMap.filter(({ v1In }) => v1In === 'body' || v1In === undefined)) {
    // A body that is a bare array is bound to one member of the request message.
    const path =
      pair.v1
        ?.replace(/^\[\]/, fact.v1.body ?? '')
        .replaceAll('[]', '')
        .replaceAll('{}', '')
        .replace(/^\./, '') ?? ''
    const known = !pair.v2 || written.delete(path) || !fact.v1.bodyFields.some(({ name }) => name === pair.v1 || `[].${name}` === pair.v1)
    if (!known) findings.missing.push(`${operation.id}: body member ${pair.v1}`)
  }
}

function writtenPaths(fields: Fields, prefix: string): string[] {
  return Object.entries(fields).flatMap(([name, { access, type }]) => {
    if (access !== 'readWrite' && access !== 'writeOnly') return []
    const inner = innerFields(type)
    return [prefix + name, ...(inner ? writtenPaths(inner, `${prefix}${name}.`) : [])]
  })
}
