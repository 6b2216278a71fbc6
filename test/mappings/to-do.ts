import { differences } from '../../mappings/differences.ts'
import { ruleOf } from '../../src/sandbox/events/rules.ts'
import { serviceRoutes } from '../../src/sandbox/routes.ts'
import type { Operation } from '../../src/tables/language/operation.ts'
import { covers } from '../../src/tables/language/operation-pattern.ts'
import type { Message } from '../../src/tables/language/resource.ts'
import { cases } from '../compat/cases/index.ts'
import { pairs, tableOf, UNPAIRED } from '../properties/native/pairs.ts'
import { SILENT } from '../sandbox/events/silent.ts'
import { transcripts } from './transcripts.ts'

/** `METHOD /path` without the names of its variables: v1, v2 and the sandbox name them apart. */
const shapeOf = (route: string) => route.replace(/\{[^}]*\}/g, '{}')

const rehearsed = new Set(transcripts.filter(({ status = 200 }) => status === 200).map(({ operation }) => operation))
const shown = new Set(cases.flatMap((one) => one.operations))
const routes = new Map(serviceRoutes.map((route) => [shapeOf(`${route.method} ${route.template}`), route]))
const paired = new Set<Message>([...pairs.map(({ table }) => table), ...UNPAIRED.map(([id, part]) => tableOf(id, part))])

/** Everything that an operation in the tables still lacks elsewhere: one line a gap, each with the file that mends it. */
export function toDo(operation: Operation): readonly string[] {
  const elsewhere = operation.kind === 'v1-only' ? [] : [...transcriptOf(operation), ...routesOf(operation), ...twinsOf(operation)]
  return [...elsewhere, ...caseOf(operation), ...differenceOf(operation)]
}

function transcriptOf({ id }: Operation): readonly string[] {
  return rehearsed.has(id) ? [] : [`a transcript that ends with status 200: test/mappings/, operation: '${id}'`]
}

function routesOf({ method, template, calls }: Operation): readonly string[] {
  const genuine = `${method} ${template}`
  return [
    ...without(genuine, `a route in the genuine v1: src/sandbox/v1/, ${genuine}`),
    ...calls.flatMap((call) => without(call, `a route in the sandbox's v2: src/sandbox/v2/, ${call}`)),
  ]
}

/** A route that the sandbox has not, or a write of it that sends no event. */
function without(call: string, lacking: string): readonly string[] {
  const route = routes.get(shapeOf(call))
  if (!route) return [lacking]
  const isAnnounced = route.method === 'GET' || ruleOf(route) !== undefined || SILENT.includes(`${route.method} ${route.template}`)
  return isAnnounced ? [] : [`an event of ${call}: src/sandbox/events/resource-rules.ts, or a row of test/sandbox/events/silent.ts`]
}

function twinsOf(operation: Operation): readonly string[] {
  return (['request', 'answer', 'envelope'] as const).flatMap((part) => {
    const table = operation[part]
    if (!table || Object.keys(table.fields).length === 0 || paired.has(table)) return []
    return [`a genuine twin of "${table.name}": test/properties/native/pairs.ts, ['${operation.id}', '${part}', …] in ROWS or UNPAIRED`]
  })
}

function caseOf({ id }: Operation): readonly string[] {
  return shown.has(id) ? [] : [`a contract case: test/compat/cases/, operations: ['${id}']`]
}

/** What v2 lacks or can only emulate looks different to a client. A pattern for all operations says nothing about this one. */
function differenceOf({ id, kind }: Operation): readonly string[] {
  if (kind !== 'v1-only' && kind !== 'emulated') return []
  const named = differences.some(({ operations }) => operations.some((pattern) => pattern !== '*' && covers(pattern, id)))
  return named ? [] : [`a difference, because it is ${kind}: mappings/differences.ts, operations: ['${id}']`]
}

/** What names an operation that the tables do not have. */
export function strays(operations: readonly Operation[]): readonly string[] {
  const ids = new Set(operations.map(({ id }) => id))
  return [
    ...transcripts.filter(({ operation }) => !ids.has(operation)).map(({ operation, title }) => `transcript "${title}" names ${operation}`),
    ...cases.flatMap(({ name, operations: said }) => said.filter((id) => !ids.has(id)).map((id) => `case "${name}" names ${id}`)),
  ]
}
