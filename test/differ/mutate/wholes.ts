import type { RelayedAnswer } from '../stage/relay.ts'
import { isRecord } from './json-places.ts'
import { type Mutation, withBody } from './mutation.ts'

/** HTTP status and google.rpc code of errors that v2 has. 401 is not among them: a side that knows no caller proves nothing. */
const ERRORS: readonly (readonly [status: number, code: number, message: string])[] = [
  [400, 3, 'invalid'],
  [403, 7, 'denied'],
  [404, 5, 'not found'],
  [409, 6, 'exists'],
  [429, 8, 'too many'],
  [500, 13, 'internal'],
  [503, 14, 'unavailable'],
]

/** A NOT_FOUND that names the missing resource: v1 answers an empty list to it. */
const NAMED_MISSING = [
  { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'NOT_FOUND', domain: 'iam.chainguard.dev' },
  { '@type': 'type.googleapis.com/google.rpc.ResourceInfo', resourceType: 'iam.Group', resourceName: 'x' },
]

const JSON_TYPE = { 'content-type': 'application/json' }

function error(status: number, code: number, message: string, details: readonly unknown[] = []): Mutation['apply'] {
  return () => ({ status, headers: JSON_TYPE, body: Buffer.from(JSON.stringify({ code, message, details })) })
}

function text(status: number, type: string, body: string): Mutation['apply'] {
  return () => ({ status, headers: { 'content-type': type }, body: Buffer.from(body) })
}

const HTML = '<html><body>It works!</body></html>'

/** Mutations that take the place of the whole answer. */
const WHOLES: readonly Mutation[] = [
  ...ERRORS.map(([status, code, message]): Mutation => ({ name: `status ${status}`, apply: error(status, code, message) })),
  { name: 'status 404 that names its resource', apply: error(404, 5, 'not found', NAMED_MISSING) },
  { name: 'html', apply: text(200, 'text/html', HTML) },
  { name: 'html with 502', apply: text(502, 'text/html', HTML) },
  ...['', '{}', '[]', 'null', '""', '0'].map((body): Mutation => {
    return { name: body === '' ? 'empty body' : `body ${body}`, apply: text(200, 'application/json', body) }
  }),
  { name: 'half of the body', apply: (answer) => ({ ...answer, body: answer.body.subarray(0, answer.body.length >> 1) }) },
  { name: 'the last byte cut off', apply: (answer) => ({ ...answer, body: answer.body.subarray(0, -1) }) },
]

/** Mutations of the answer as a whole, of its error or of its page token. */
export function wholeMutations({ status }: RelayedAnswer, body: unknown): readonly Mutation[] {
  return [...WHOLES.filter(({ name }) => name !== `status ${status}`), ...(isRecord(body) ? ofRecord(status, body) : [])]
}

function ofRecord(status: number, body: Readonly<Record<string, unknown>>): readonly Mutation[] {
  const changed = (name: string, members: object): Mutation => ({ name, apply: (answer) => withBody(answer, { ...body, ...members }) })
  if (status >= 400) return [changed('another code', { code: 9 }), changed('another message', { message: 'something else' })]
  const token = body['nextPageToken']
  return [
    changed('an extra member', { surprise: 1 }),
    ...(token === '' ? [changed('a page token of its own', { nextPageToken: 'bm9uZQ' })] : []),
    ...(typeof token === 'string' && token !== '' ? [changed('the page token lost', { nextPageToken: '' })] : []),
  ]
}
