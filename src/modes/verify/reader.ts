import { itemFields, nameIn, readerOf, type ShownMember, shownMembers } from '../../tables/compile.ts'
import type { Fields } from '../../tables/fields.ts'
import { isObject, type JsonObject } from '../../tables/json.ts'
import type { Operation, V1Request } from '../../tables/operation.ts'
import { isReadBack, type ReadBack, type Unverifiable } from '../../tables/operations.ts'
import { type Dialect, variablesOf } from '../../tables/uid.ts'

/** A read that shows the effect of a write on one resource. */
export interface Reading {
  readonly operation: Operation
  readonly request: V1Request
  /** The same as a v1 path and query. */
  readonly url: string
  readonly uid: string
  /** The resource as the write's answer shows it; undefined if it shows none. */
  readonly item: JsonObject | undefined
  /** The texts that the request asked to list, if its answer lists texts. */
  readonly asked: readonly unknown[]
  readonly table: WriteTable
}

/** How the effect of a write is read, with names as sent. */
export interface WriteTable {
  readonly readBack: ReadBack
  readonly reader: Operation
  /** The member that identifies the resource in the read. */
  readonly key: string | undefined
  /** The member that holds the time of its last change. */
  readonly stamp: string | undefined
  readonly members: readonly ShownMember[]
  /** The list in the answer that holds the written items. */
  readonly list: string | undefined
  /** The list of texts in the answer, and the member of a row that holds one of them. */
  readonly listed: { readonly answer: string; readonly row: string } | undefined
}

/** The reads after a write, none if its answer does not name what was written; or why there can be none. */
export type Readings = readonly Reading[] | Unverifiable

/** Returns the reads that show the effect of a write; `answer` is the JSON of its answer. */
export type ReadingsOf = (write: Operation, request: V1Request, answer: unknown) => Readings

/** Maximum resources of one write that are read. v2 takes 25 in a batch (facts §3.5). */
const MOST = 25

export function createReadingsOf(operations: readonly Operation[], dialect: Dialect): ReadingsOf {
  const tables = new Map(operations.map((operation) => [operation, tableOf(operation, operations, dialect)]))
  return (write, request, answer) => {
    const table = tables.get(write)
    if (!table) return write.readBack && !isReadBack(write.readBack) ? write.readBack : { unverifiable: 'its table names no read' }
    return namedIn(write, table, request, answer)
      .slice(0, MOST)
      .map(([uid, item]) => ({ ...readOf(table.reader, uid), uid, item, asked: askedTexts(write, request), table }))
  }
}

function tableOf({ readBack, answer }: Operation, operations: readonly Operation[], dialect: Dialect): WriteTable | undefined {
  const reader = readBack && isReadBack(readBack) ? readerOf(readBack, operations) : undefined
  if (!readBack || !isReadBack(readBack) || !reader) return undefined
  const { shown } = readBack.resource
  const named = (source: string) => {
    const row = Object.entries(shown).find(([, { source: from, only = dialect }]) => from === source && only === dialect)
    return row && nameIn(dialect, ...row)
  }
  const spelled = (fields: Fields = {}, name = '') => {
    const field = fields[name]
    return field && nameIn(dialect, name, field)
  }
  const { listed } = readBack
  const [texts, text] = [spelled(answer?.shown, listed?.answer), spelled(shown, listed?.row)]
  return {
    readBack,
    reader,
    key: named('uid'),
    stamp: named('updateTime'),
    members: shownMembers(readBack, itemFields(readBack, answer), dialect),
    list: 'rows' in readBack.named ? spelled(answer?.shown, readBack.named.rows) : undefined,
    listed: texts !== undefined && text !== undefined ? { answer: texts, row: text } : undefined,
  }
}

type Item = readonly [uid: string, item: JsonObject | undefined]

/** Returns the uids of what was written, each with what the answer shows of it. */
function namedIn(write: Operation, { readBack, list }: WriteTable, { params, body }: V1Request, answer: unknown): readonly Item[] {
  const { named, gone } = readBack
  const shown = isObject(answer) && !gone ? answer : undefined
  if ('param' in named) return withUid([[params[named.param], shown]])
  if ('answer' in named) return withUid([[shown?.[named.answer], shown]])
  if ('body' in named) return withUid(listIn(write.request?.read(body), named.body).map((uid) => [uid, undefined]))
  return withUid(listIn(shown, list).map((row) => (isObject(row) ? [row.id, row] : [undefined, undefined])))
}

/** Returns the texts in the body of a write whose answer lists texts. */
function askedTexts({ readBack, request }: Operation, { body }: V1Request): readonly unknown[] {
  const listed = readBack && isReadBack(readBack) ? readBack.listed : undefined
  const source = listed && request?.fields[listed.answer]?.source
  return typeof source === 'string' ? listIn(request?.read(body), source) : []
}

function listIn(object: JsonObject | undefined, name: string | undefined): readonly unknown[] {
  const list = name === undefined ? undefined : object?.[name]
  return Array.isArray(list) ? list : []
}

function withUid(items: readonly (readonly [uid: unknown, item: JsonObject | undefined])[]): readonly Item[] {
  return items.flatMap(([uid, item]) => (typeof uid === 'string' && uid !== '' ? [[uid, item] as const] : []))
}

/** Returns the read of one resource, by the parameter or the path variable that selects it. */
function readOf(operation: Operation, uid: string): Pick<Reading, 'operation' | 'request' | 'url'> {
  const { template, selects = '' } = operation
  if (variablesOf(template).includes(selects)) {
    const url = template.replace(/\{[^{}]+\}/, uid.split('/').map(encodeURIComponent).join('/'))
    return { operation, request: { params: { [selects]: uid }, query: new Map(), body: undefined }, url }
  }
  const request = { params: {}, query: new Map([[selects, [uid]]]), body: undefined }
  return { operation, request, url: `${template}?${selects}=${encodeURIComponent(uid)}` }
}
