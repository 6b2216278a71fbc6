import type { Field, Fields, FieldType, Source } from '../../tables/fields.ts'
import type { Operation } from '../../tables/operation.ts'
import { spellings } from '../../tables/query.ts'
import { ROWS } from '../../tables/turn.ts'
import { camelCase } from '../../tables/uid.ts'

/**
 * Every word of an operation that is public because its tables contain it.
 * These are the names of members and parameters in each spelling, the names of enum values, and the fixed parts of its paths.
 * Any other text of a request or an answer may be secret.
 */
export type Vocabulary = ReadonlySet<string>

/** Words that every answer or call may contain. */
const COMMON = [ROWS, 'updateMask', '*', 'page_size', 'page_token', 'skip', 'order_by']

/** What v2's lists hold beside their rows, and what a google.rpc.Status holds (specification §1.3, §1.6). */
const LIST = ['nextPageToken', 'totalCount', 'skipped']
const STATUS = ['code', 'message', 'details', '@type', 'reason', 'domain', 'metadata', 'resourceType', 'resourceName', 'owner']
const FIELDS = ['fieldViolations', 'field', 'description']

export function vocabularyOf(operation: Operation): Vocabulary {
  const { template, calls, params, ownParams, request, answer, envelope } = operation
  const messages = [request, answer, envelope].filter((message) => message !== undefined)
  return new Set([
    ...COMMON,
    ...LIST,
    ...STATUS,
    ...FIELDS,
    ...[...Object.keys(params), ...ownParams].flatMap(spellings),
    ...Object.values(params).map((row) => (typeof row === 'string' ? row : row.v2)),
    ...[template, ...calls].flatMap(fixedParts),
    ...messages.flatMap(({ shown }) => wordsOf(shown)),
    ...messages.flatMap((message) => ('plural' in message ? [String(message.plural)] : [])),
  ])
}

/** Returns the words of all operations. The calls of one of them may read what the tables of another describe. */
export function vocabularyOfAll(operations: readonly Operation[]): Vocabulary {
  return new Set(operations.flatMap((operation) => [...vocabularyOf(operation)]))
}

function fixedParts(path: string): readonly string[] {
  return path
    .replace(/\{[^{}]*\}/g, '')
    .split(/[ /:]/)
    .filter((part) => part !== '')
}

function wordsOf(fields: Fields): readonly string[] {
  return Object.entries(fields).flatMap(([name, field]) => [...namesOf(name, field), ...typeWords(field.type)])
}

function namesOf(name: string, { json, source }: Field): readonly string[] {
  return [name, json ?? camelCase(name), ...sourceNames(source)]
}

function sourceNames(source: Source | undefined): readonly string[] {
  if (source === undefined) return []
  if (typeof source === 'string') return source.split('.')
  return 'parentOf' in source ? source.parentOf.split('.') : source.firstOf.flatMap(sourceNames)
}

function typeWords(type: FieldType): readonly string[] {
  if (type.kind === 'choice') return [...type.of.rows.map(([v1]) => v1), ...type.of.toV1.keys()].map(String)
  if (type.kind === 'object') return wordsOf(type.fields)
  return type.kind === 'list' || type.kind === 'map' ? typeWords(type.of) : []
}
