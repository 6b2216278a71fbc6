import { CODES, type CodeName } from '../../errors.ts'
import type { DescribedOperation } from '../described-operation.ts'
import { componentName } from '../schemas/component-name.ts'
import { type JsonSchema, refTo } from '../schemas/json-schema.ts'
import type { SchemaComponents } from '../schemas/schema-components.ts'

export const JSON_TYPE = 'application/json'

/** Settings that decide which refusals a client can get. */
export interface RefusalSettings {
  readonly notFound: 'empty' | 'error'
}

/** The statuses of refusals and a name for each. The codes of a status follow from their table (facts §15). */
const REFUSALS: Readonly<Record<number, string>> = {
  400: 'Invalid',
  401: 'Unauthenticated',
  403: 'Forbidden',
  404: 'Not found',
  409: 'Conflict',
  429: 'Too many requests',
  500: 'Failed',
  501: 'Not served',
  503: 'Unavailable',
  504: 'Late',
}

/** Returns the answers of an operation by status. */
export function responsesOf(
  operation: DescribedOperation,
  success: JsonSchema,
  settings: RefusalSettings,
): Readonly<Record<string, JsonSchema>> {
  const refusals = statusesOf(operation, settings).map((status) => [status, refTo('responses', componentName(REFUSALS[status] ?? ''))])
  return { '200': success, ...Object.fromEntries(refusals), default: refTo('responses', 'Refused') }
}

function statusesOf({ kind, method, missing, rows, takesNoToken }: DescribedOperation, { notFound }: RefusalSettings): readonly number[] {
  const isV1Only = kind === 'v1-only'
  // A list can be broken off because v2 began it anew (facts §10.3).
  const mayConflict = method !== 'GET' || rows || kind === 'emulated'
  return [
    400,
    ...(takesNoToken && !isV1Only ? [] : [401, 403]),
    ...(isV1Only || missing === 'error' || notFound === 'error' ? [404] : []),
    ...(mayConflict || isV1Only ? [409] : []),
    429,
    500,
    ...(isV1Only ? [501] : []),
    503,
    504,
  ]
}

/** Returns a response with a body. */
export function responseOf(description: string, schema: JsonSchema, headers: JsonSchema | undefined): JsonSchema {
  return { description, ...(headers && { headers }), content: { [JSON_TYPE]: { schema } } }
}

/** Returns the refusals that operations refer to, by name. */
export function refusalResponses(
  add: SchemaComponents['add'],
  headers: JsonSchema | undefined,
  hasOwnForm: boolean,
): Readonly<Record<string, JsonSchema>> {
  const schema = hasOwnForm ? OWN_FORM : statusWith(add)
  const named = Object.entries(REFUSALS).map(([status, name]) => [
    componentName(name),
    responseOf(codesText(Number(status), hasOwnForm), schema, headers),
  ])
  return { ...Object.fromEntries(named), Refused: responseOf('Any other refusal.', schema, headers) }
}

function statusWith(add: SchemaComponents['add']): JsonSchema {
  const details = { type: 'array', items: add('Detail', DETAIL) }
  return add('Status', { ...STATUS, properties: { ...STATUS.properties, details } })
}

/** The tables write refusals by a function, which nobody can describe. */
const OWN_FORM: JsonSchema = { type: 'object', description: 'A refusal, as the API writes it.', additionalProperties: true }

function codesText(status: number, hasOwnForm: boolean): string {
  const codes = (Object.keys(CODES) as CodeName[]).filter((name) => CODES[name].http === status)
  return `Refused with ${codes.map((name) => (hasOwnForm ? name : `code ${CODES[name].number} (${name})`)).join(' or ')}.`
}

/** Every refusal is a google.rpc.Status (facts §15). */
const STATUS = {
  type: 'object',
  description: 'A refusal: a google.rpc.Status.',
  properties: {
    code: { type: 'integer', format: 'int32', description: 'The number of the google.rpc code.', minimum: 1, maximum: 16 },
    message: { type: 'string', description: 'A text for people. Programs must not read it.' },
  },
  required: ['code', 'message', 'details'],
} as const

const DETAIL: JsonSchema = {
  type: 'object',
  description: 'Its type says which other members it has: ErrorInfo, BadRequest, ResourceInfo or PreconditionFailure of google.rpc.',
  properties: { '@type': { type: 'string' } },
  required: ['@type'],
  additionalProperties: true,
}
