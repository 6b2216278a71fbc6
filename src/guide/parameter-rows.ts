import { words } from '../explain/explanation-text.ts'
import { requestMarker } from '../explain/marker.ts'
import { createShapes } from '../explain/placeholder.ts'
import { trace } from '../explain/trace.ts'
import { queryText } from '../serve/upstream/exchange.ts'
import { SKIP_PARAMETER, TOKEN_PARAMETER } from '../tables/list.ts'
import type { Operation, V1Request } from '../tables/operation.ts'
import { WINDOW_PARAMETERS } from '../tables/pages.ts'
import { asParam, ORDER_PARAMETER, type Param } from '../tables/query.ts'
import type { Call } from '../tables/turn.ts'
import type { ParameterRow } from './guide-schema.ts'
import type { GuideContext } from './guided-request.ts'
import { plainRequest } from './sample-request.ts'
import { valueNames } from './value-names.ts'

/** Returns every parameter of an operation; with `names`, those that a client gives and those whose default v2 inverted. */
export function parameterRows(operation: Operation, context: GuideContext, names?: readonly string[]): readonly ParameterRow[] {
  const first = createFirstCall(operation, context)
  const rows = [
    ...Object.entries(operation.params).map(([name, row]) => paramRow(name, asParam(row), first)),
    ...operation.ownParams.map((name) => ownRow(name, operation, first)),
  ]
  return names ? rows.filter(({ v1, fate }) => names.includes(v1) || fate === 'inverted') : rows
}

/** Makes the first v2 call of the plainest request with one parameter more. Undefined if the tables refuse it. */
type FirstCall = (name?: string, value?: string) => Call | undefined

function createFirstCall(operation: Operation, { mappings, env }: GuideContext): FirstCall {
  const plain = plainRequest(operation)
  const shapeOf = createShapes(mappings)
  return (name, value) => {
    const query = new Map(name === undefined ? [] : [[name, [value ?? '']]])
    const request: V1Request = { ...plain, query }
    return trace({ operation, request, env, shapeOf }).calls[0]
  }
}

function paramRow(name: string, param: Param, first: FirstCall): ParameterRow {
  if (param.v1Only !== undefined) return { v1: name, fate: 'dropped', note: `${param.v1Only}; false is all that v2 can do` }
  if (param.neverTaken) return { v1: name, fate: 'dropped', note: 'both versions refuse it in a query' }
  if (param.v2 === '') return { v1: name, fate: 'made', note: param.made ?? 'v2 has no such parameter' }
  const values = param.of && valueNames(param.of)
  const fate = param.negate ? 'inverted' : param.v2 !== name ? 'renamed' : values === undefined ? 'same' : 'converted'
  const notes = [
    ...(param.negate ? [`v1 shows by default what v2 shows only with ${param.v2}=true`] : []),
    ...(values === undefined ? [] : [values]),
  ]
  return { v1: name, v2: param.v2, fate, ...exampleOf(name, sampleOf(name, param), first, param.v2), ...noteOf(notes) }
}

function ownRow(name: string, operation: Operation, first: FirstCall): ParameterRow {
  const example = exampleOf(name, OWN_SAMPLES[name] ?? orderSample(name, operation) ?? requestMarker(name), first)
  const changed = example.example?.v2
  const isPath = changed?.startsWith('/') ?? false
  const v2 = changed?.includes('skip=') ? 'skip' : changed?.split('=')[0]
  const note = isPath ? 'in the path: a Get of one resource' : v2 === undefined ? WHOLE : (ordersOf(name, operation) ?? NOTES[name])
  const given = example.example?.v1.slice(name.length + 1)
  const isSame = example.example?.v2 === `${name}=${given}`
  const fate = v2 === undefined ? 'made' : isPath ? 'moved' : v2 !== name ? 'renamed' : isSame ? 'same' : 'converted'
  return {
    v1: name,
    ...(v2 !== undefined && { v2: isPath ? '(path)' : v2 }),
    fate,
    ...example,
    ...noteOf(note === undefined ? [] : [note]),
  }
}

function noteOf(notes: readonly string[]) {
  return notes.length === 0 ? {} : { note: notes.join('; ') }
}

/** Values that make a difference. */
const OWN_SAMPLES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(WINDOW_PARAMETERS.map((name) => [name, '20'])),
  page: '3',
  page_number: '3',
  [SKIP_PARAMETER]: '20',
}

const WHOLE = 'v2 answers all rows at once; the client cuts and sorts them itself'
const PAGE_NOTE = 'rows to skip: pages before this one × rows of a page'
const SIZE_NOTE = 'v2 gives 200 rows at most; page_token brings the next ones'

const NOTES: Readonly<Record<string, string>> = {
  offset: 'rows to skip',
  limit: SIZE_NOTE,
  page: PAGE_NOTE,
  page_number: PAGE_NOTE,
  page_size: SIZE_NOTE,
  per_page: SIZE_NOTE,
  [TOKEN_PARAMETER]: 'a token of v1 means nothing to v2',
  [ORDER_PARAMETER]: 'id is called uid in v2',
}

function ordersOf(name: string, { orders }: Operation): string | undefined {
  return name === ORDER_PARAMETER && orders ? valueNames(orders) : undefined
}

function orderSample(name: string, { orders }: Operation): string | undefined {
  if (name !== ORDER_PARAMETER) return undefined
  return orders ? orders.rows.find((row) => row !== orders.zero)?.[0] : 'id desc'
}

function sampleOf(name: string, { kind, of }: Param): string {
  if (kind === 'flag') return 'true'
  if (kind === 'int') return '1'
  if (kind === 'time') return '2026-01-02T03:04:05Z'
  return (kind === 'choice' ? of?.rows.find((row) => row !== of.zero)?.[0] : undefined) ?? requestMarker(name)
}

/** Returns what the parameter changes in the first call, or the v2 parameter `known` in it. */
function exampleOf(name: string, value: string, first: FirstCall, known?: string): Pick<ParameterRow, 'example'> {
  const [without, call] = [first(), first(name, value)]
  if (!call || !without) return {}
  const others = new Set(without.query.map(([other, its]) => `${other}=${its}`))
  const fresh = call.query.filter(([other, its]) => !others.has(`${other}=${its}`))
  const named = call.query.filter(([other]) => other === known)
  const v2 = call.path === without.path ? queryText({ query: fresh.length > 0 ? fresh : named }) : call.path
  return v2 === '' ? {} : { example: { v1: words(queryText({ query: [[name, value]] })), v2: words(v2) } }
}
