import fc, { type Arbitrary } from 'fast-check'
import { mappings } from '../../../mappings/index.ts'
import type { Operation } from '../../../src/tables/operation.ts'
import { spellings } from '../../../src/tables/query.ts'
import { v1Form } from '../../properties/forms.ts'

/** One request as bytes; its body ends as its framing says. */
export interface WireRequest {
  readonly text: string
  readonly isHead: boolean
}

const operations: readonly Operation[] = mappings.flatMap((mapping) => mapping.operations)

/** Texts that a careless program misreads. */
const NASTY = [
  ...[
    '',
    '..',
    '../roles',
    '%2e%2e%2f',
    '%2F',
    '%00',
    '%0d%0aX-Evil:1',
    '%zz',
    '%',
    'a//b',
    '__proto__',
    'constructor',
    '*',
    ':verb',
    '{id=**}',
  ],
  ...['-1', '0', '99999999999999999999', '1e400', 'NaN', 'null', 'true', '2026-01-01T00:00:00Z', '%F0%9F%94%91', '%ff', "';--", '<script>'],
]

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND', 'BREW', 'get']
const PREFIXES = [
  '/iam/v1/',
  '/registry/v1/',
  '/libraries/v1/',
  '/advisory/v1/',
  '/events/v1/',
  '/ping/v1/',
  '/iam%2Fv1/',
  '//iam/v1/',
  '/',
]

const hex = (length: number) => fc.array(fc.constantFrom(...'0123456789abcdef'), { minLength: length, maxLength: length })
const uid = hex(40).map((digits) => digits.join(''))
const uidPath = fc.oneof(
  uid,
  fc.tuple(uid, hex(16)).map(([parent, own]) => `${parent}/${own.join('')}`),
)

/** Characters that a request line can hold without encoding. */
const visible = fc.string({ unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)), maxLength: 12 })

const encoded = fc.string({ unit: 'grapheme', maxLength: 8 }).map((text) => encodeURIComponent(text))
const value = fc.oneof({ weight: 3, arbitrary: uidPath }, fc.constantFrom(...NASTY), visible, encoded)

function pathOf({ template }: Operation): Arbitrary<string> {
  return fc.array(value, { minLength: 4, maxLength: 4 }).map((values) => {
    const left = [...values]
    return template.replaceAll(/\{[^}]+\}/g, () => left.pop() ?? '')
  })
}

function queryOf({ params, ownParams }: Operation): Arbitrary<string> {
  const names = [...Object.keys(params), ...ownParams, 'page_size', 'limit', 'offset', 'order_by', 'id'].flatMap(spellings)
  const name = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...names) }, visible)
  const pair = fc.tuple(name, value).map(([left, right]) => `${left}=${right}`)
  const pairs = fc.array(fc.oneof({ weight: 8, arbitrary: pair }, visible), { maxLength: 4 })
  return pairs.map((all) => (all.length === 0 ? '' : `?${all.join('&')}`))
}

const HEADER_NAMES = [
  ...[
    'accept',
    'accept-encoding',
    'authorization',
    'baggage',
    'cgclientid',
    'content-encoding',
    'content-type',
    'cookie',
    'expect',
    'forwarded',
  ],
  ...['if-none-match', 'range', 'te', 'traceparent', 'tracestate', 'trailer', 'upgrade', 'user-agent', 'via', 'x-crosswalk-mode'],
  ...['x-forwarded-for', 'x-http-method-override', 'x-request-id'],
]
const HEADER_VALUES = [
  ...[
    '100-continue',
    'GET',
    'DELETE',
    'h2c',
    'gzip',
    'application/json',
    'application/x-www-form-urlencoded',
    'Bearer x',
    'trailers',
    'v2',
  ],
]

/** Characters of a header line, and sometimes forbidden ones. */
const headerText = fc.string({ unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)), maxLength: 20 })
const header = fc.tuple(fc.constantFrom(...HEADER_NAMES), fc.oneof(fc.constantFrom(...HEADER_VALUES), headerText))
const brokenHeader = fc.constantFrom('no colon', ': no name', 'x y: z', 'x: a\0b', ' folded: x', 'content-length: x')
const headerPairs = fc.uniqueArray(header, { maxLength: 4, selector: ([name]) => name })
const headers = fc
  .tuple(headerPairs, sometimes(brokenHeader))
  .map(([lines, broken]) => [...lines.map(([name, text]) => `${name}: ${text}`), ...broken])

/** True once in a hundred times. */
function sometimes(arbitrary: Arbitrary<string>): Arbitrary<readonly string[]> {
  return fc.oneof({ weight: 99, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: arbitrary.map((one) => [one]) })
}

const depths = fc.integer({ min: 1, max: 100 }).map((depth) => `${'{"a":['.repeat(depth)}1${']}'.repeat(depth)}`)

function bodyOf({ request }: Operation): Arbitrary<string> {
  const own = request ? v1Form(request.fields).map((form) => JSON.stringify(form)) : fc.constant('{}')
  const cut = fc.tuple(own, fc.nat({ max: 60 })).map(([text, at]) => text.slice(0, at))
  const utf8 = fc.oneof({ weight: 4, arbitrary: own }, fc.json(), cut, depths).map((text) => Buffer.from(text, 'utf8').toString('latin1'))
  const bytes = fc.uint8Array({ maxLength: 30 }).map((all) => Buffer.from(all).toString('latin1'))
  return fc.oneof({ weight: 6, arbitrary: utf8 }, bytes, fc.constantFrom('', 'null', '[]', '"x"', 'a=b&c=d'))
}

function requestOf(operation: Operation): Arbitrary<WireRequest> {
  const method = fc.oneof({ weight: 6, arbitrary: fc.constant<string>(operation.method) }, fc.constantFrom(...METHODS))
  const wild = fc.tuple(fc.constantFrom(...PREFIXES), visible).map(([prefix, rest]) => prefix + rest)
  const path = fc.oneof({ weight: 6, arbitrary: pathOf(operation) }, wild)
  return fc
    .tuple(method, path, queryOf(operation), headers, bodyOf(operation), fc.boolean())
    .map(([name, target, query, lines, body, chunked]) => {
      const frame = body === '' ? [] : [chunked ? 'transfer-encoding: chunked' : `content-length: ${body.length}`]
      const head = [`${name} ${target}${query} HTTP/1.1`, 'host: x', ...lines, ...frame, '', ''].join('\r\n')
      const framed = chunked && body !== '' ? `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n` : body
      return { text: head + framed, isHead: name === 'HEAD' }
    })
}

export const anyRequest: Arbitrary<WireRequest> = fc.oneof(...operations.map(requestOf))
