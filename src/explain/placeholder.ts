import type { Fields, FieldType, Source } from '../tables/fields.ts'
import type { JsonObject } from '../tables/json.ts'
import type { Mapping, Operation } from '../tables/operation.ts'
import type { Message, Resource } from '../tables/resource.ts'
import type { Call } from '../tables/turn.ts'
import { markerText } from './marker.ts'

/** The form of v2's answer to a call. Without rows it is not a list. */
export interface Shape {
  readonly plural?: string | undefined
  /** The body of a single answer, or the rest of a list's; `row` 0 is the answer itself. */
  readonly body: (call: number, row: number) => JsonObject
}

/** Finds the form of v2's answers in the tables. */
export type ShapeOf = (operation: Operation, call: Call) => Shape

/** Gathers the v2 collections that the tables know, and the form of their rows. */
export function createShapes(mappings: readonly Mapping[]): ShapeOf {
  const resources = new Map<string, Resource>()
  for (const { answer } of mappings.flatMap(({ operations }) => operations))
    if (answer && isResource(answer)) resources.set(answer.v2, answer)
  return (operation, { method, path }) => {
    if (isSilent(operation, method)) return SILENT
    const own = [...resources.values()].find(({ v2 }) => path === v2 || path.startsWith(`${v2}/`))
    const fields = { ...operation.answer?.fields, ...own?.fields }
    const shape = { body: (call: number, row: number) => placeholder(fields, call, row) }
    if (own && method === 'GET' && path === own.v2) return { ...shape, plural: own.plural }
    return isOwnList(operation, own, path) ? { ...shape, plural: operation.rowsIn } : shape
  }
}

/** True for the list of an operation whose collection has variables, or whose rows are no resource. */
function isOwnList({ rowsIn, answer, calls }: Operation, own: Resource | undefined, path: string): boolean {
  const [, template = ''] = calls[0]?.split(' ') ?? []
  const isRow = own === undefined || (answer !== undefined && isResource(answer))
  return rowsIn !== undefined && isRow && fits(template, path)
}

/** True if the variables of a template can be filled so that it becomes the path; a value may have slashes. */
function fits(template: string, path: string): boolean {
  const parts = template.split(/\{[^{}]*\}/)
  const last = parts.at(-1) ?? ''
  const isWithin = parts.length === 1 ? path === template : path.startsWith(parts[0] ?? '') && path.endsWith(last)
  return isWithin && path.length >= parts.join('').length
}

/** A delete answers the empty message, and so does a write whose v1 answer has no member. */
function isSilent({ answer }: Operation, method: Call['method']): boolean {
  return method === 'DELETE' || (method !== 'GET' && answer !== undefined && Object.keys(answer.fields).length === 0)
}

const SILENT: Shape = { body: () => ({}) }

function isResource(message: Message): message is Resource {
  return 'plural' in message
}

/** Returns a v2 form in which every text is a marker. Every object has a uid. */
function placeholder(fields: Fields, call: number, row: number): JsonObject {
  const form: Record<string, unknown> = { uid: markerText({ call, row, path: 'uid' }) }
  fill(form, fields, '', call, row)
  return form
}

function fill(form: Record<string, unknown>, fields: Fields, prefix: string, call: number, row: number): void {
  for (const { source, type: shown, convert } of Object.values(fields)) {
    // A function reads the value of v2, which is most likely a text.
    const type: FieldType = convert ? { kind: 'text' } : shown
    for (const path of pathsOf(source)) {
      const inner = type.kind === 'object' ? type.fields : undefined
      if (path === '' && inner) fill(form, inner, prefix, call, row)
      else if (path !== '') put(form, path.split('.'), (held) => imagined(type, held, prefix + path, call, row))
    }
  }
}

function pathsOf(source: Source | undefined): readonly string[] {
  if (source === undefined) return []
  if (typeof source === 'string') return [source]
  return 'firstOf' in source ? source.firstOf.flatMap(pathsOf) : [source.parentOf]
}

function put(form: Record<string, unknown>, path: readonly string[], value: (held: unknown) => unknown): void {
  const [member = '', ...rest] = path
  if (rest.length === 0) {
    form[member] = value(form[member])
    return
  }
  const below = { ...(form[member] as JsonObject | undefined) }
  put(below, rest, value)
  form[member] = below
}

function imagined(type: FieldType, held: unknown, path: string, call: number, row: number): unknown {
  switch (type.kind) {
    case 'text':
    case 'time':
      return markerText({ call, row, path })
    case 'object': {
      const below = { ...(held as JsonObject | undefined) }
      fill(below, type.fields, `${path}.`, call, row)
      return below
    }
    case 'list':
      return []
    case 'choice':
      return type.of.zero[1]
    default:
      return undefined
  }
}
