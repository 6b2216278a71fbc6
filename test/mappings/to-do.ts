import { differences } from '../../mappings/differences.ts'
import { ruleOf } from '../../src/sandbox/events/rules.ts'
import type { Route } from '../../src/sandbox/http/route.ts'
import { serviceRoutes } from '../../src/sandbox/start.ts'
import { covers, type Operation } from '../../src/tables/operation.ts'
import { spellings } from '../../src/tables/query.ts'
import type { Message } from '../../src/tables/resource.ts'
import { cases } from '../compat/cases/index.ts'
import { pairs, tableOf, UNPAIRED } from '../properties/genuine/pairs.ts'
import { SILENT } from '../sandbox/events/silent.ts'
import { transcripts } from './transcripts.ts'

/** `METHOD /path` without the names of its variables, which differ between v1, v2 and the sandbox. */
const shapeOf = (route: string) => route.replace(/\{[^}]*\}/g, '{}')

const succeeding = new Set(transcripts.filter(({ status = 200 }) => status === 200).map(({ operation }) => operation))
const sent = new Set(transcripts.flatMap(({ operation, request }) => parametersOf(request).map((parameter) => `${operation} ${parameter}`)))
const shown = new Set(cases.flatMap((one) => one.operations))
const routes = new Set(serviceRoutes.map(({ method, template }) => shapeOf(`${method} ${template}`)))
const silent = new Set(SILENT.map(shapeOf))
const paired: readonly Message[] = [...pairs.map(({ table }) => table), ...UNPAIRED.map(([id, part]) => tableOf(id, part))]

function parametersOf(request: string): readonly string[] {
  return [...new URLSearchParams(request.split('?')[1] ?? '').keys()]
}

/** Returns everything that these operations still lack outside the tables: one line for each gap, with the file that mends it. */
export function toDo(operations: readonly Operation[]): readonly string[] {
  const told = new Set(paired)
  return operations.flatMap((operation) => {
    const { kind } = operation
    const served = kind === 'v1-only' ? [] : [...transcriptsOf(operation), ...routesOf(operation), ...twinsOf(operation, told)]
    const lacking = [...served, ...caseOf(operation), ...differenceOf(operation)]
    return lacking.length === 0 ? [] : [`${operation.id} lacks`, ...lacking.map((one) => `  - ${one}`)]
  })
}

function transcriptsOf({ id, params }: Operation): readonly string[] {
  const unsent = Object.keys(params).filter((name) => !spellings(name).some((spelling) => sent.has(`${id} ${spelling}`)))
  return [
    ...(succeeding.has(id) ? [] : [`a transcript that ends with status 200: test/mappings/, operation: '${id}'`]),
    ...unsent.map((name) => `a transcript that sends ${name}: test/mappings/, operation: '${id}'`),
  ]
}

function routesOf({ method, template, calls }: Operation): readonly string[] {
  const inV1 = `${method} ${template}`
  return [
    ...(routes.has(shapeOf(inV1)) ? [] : [`a route of the genuine v1: src/sandbox/v1/, ${inV1}`]),
    ...calls.filter((call) => !routes.has(shapeOf(call))).map((call) => `a route of the sandbox's v2: src/sandbox/v2/, ${call}`),
    ...[inV1, ...calls].filter(isUnannounced).map((call) => `an event for ${call}: src/sandbox/events/, or test/sandbox/events/silent.ts`),
  ]
}

function isUnannounced(call: string): boolean {
  const [method = '', template = ''] = call.split(' ')
  return method !== 'GET' && !ruleOf({ method: method as Route['method'], template }) && !silent.has(shapeOf(call))
}

/** Reports a table that several operations share once. */
function twinsOf(operation: Operation, told: Set<Message>): readonly string[] {
  return (['request', 'answer', 'envelope'] as const).flatMap((part) => {
    const table = operation[part]
    if (!table || Object.keys(table.fields).length === 0 || told.has(table)) return []
    told.add(table)
    return [`a genuine twin of "${table.name}": test/properties/genuine/pairs.ts, ['${operation.id}', '${part}', …] in ROWS or UNPAIRED`]
  })
}

function caseOf({ id }: Operation): readonly string[] {
  return shown.has(id) ? [] : [`a contract case: test/compat/cases/, operations: ['${id}']`]
}

/** An operation that v2 lacks or emulates looks different to a client. A pattern for all operations does not describe it. */
function differenceOf({ id, kind }: Operation): readonly string[] {
  if (kind !== 'v1-only' && kind !== 'emulated') return []
  const named = differences.some(({ operations }) => operations.some((pattern) => pattern !== '*' && covers(pattern, id)))
  return named ? [] : [`a difference, because it is ${kind}: mappings/differences.ts, operations: ['${id}']`]
}

/** Returns the entries that name an operation which the tables do not have. */
export function strays(operations: readonly Operation[]): readonly string[] {
  const ids = new Set(operations.map(({ id }) => id))
  return [
    ...transcripts.filter(({ operation }) => !ids.has(operation)).map(({ operation, title }) => `transcript "${title}" names ${operation}`),
    ...cases.flatMap(({ name, operations: said }) => said.filter((id) => !ids.has(id)).map((id) => `case "${name}" names ${id}`)),
  ]
}
