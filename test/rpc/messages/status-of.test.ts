import { fromBinary, toJson } from '@bufbuild/protobuf'
import { expect, it } from 'vitest'
import { ApiError, invalidArgument } from '../../../src/errors.ts'
import { type RpcStatus, statusOfAnswer, statusOfError } from '../../../src/grpc/messages/status-of.ts'
import type { RpcVersion } from '../../../src/grpc/proto-files.ts'
import type { Answer } from '../../../src/serve/answer.ts'
import { rpc } from './messages.ts'

const v1 = { registry: rpc.registry, version: 'v1' } as const

/** Returns the details as JSON, by their types. */
function detailsOf({ details }: RpcStatus) {
  return details.map(({ type, value }) => {
    const message = rpc.registry.getMessage(type)!
    return [type, toJson(message, fromBinary(message, value))]
  })
}

const detail = (type: string, members: object) => ({ '@type': `type.googleapis.com/${type}`, ...members })

it('returns code, message and details of an error', () => {
  const status = statusOfError(invalidArgument({ field: 'name', description: 'is required' }), v1)
  expect([status.code, status.message]).toEqual([3, 'Invalid argument: name: is required'])
  expect(detailsOf(status)).toEqual([['google.rpc.BadRequest', { fieldViolations: [{ field: 'name', description: 'is required' }] }]])
})

it('writes the details that services send', () => {
  const details = [
    detail('google.rpc.ErrorInfo', { reason: 'R', domain: 'd', metadata: { a: 'b' } }),
    detail('google.rpc.ResourceInfo', { resourceType: 't', resourceName: 'n', colour: 'red' }),
    detail('google.rpc.RetryInfo', { retryDelay: '1.500s' }),
  ]
  expect(detailsOf(statusOfError(new ApiError('NOT_FOUND', 'm', { details }), v1))).toEqual([
    ['google.rpc.ErrorInfo', { reason: 'R', domain: 'd', metadata: { a: 'b' } }],
    ['google.rpc.ResourceInfo', { resourceType: 't', resourceName: 'n' }],
    ['google.rpc.RetryInfo', { retryDelay: '1.500s' }],
  ])
})

it.each<[RpcVersion, string]>([
  ['v1', 'chainguard.platform.iam.TermsNotAcceptedDetail'],
  ['v2', 'chainguard.platform.iam.v2.TermsNotAcceptedDetail'],
  ['v2beta1', 'chainguard.platform.iam.v2beta1.TermsNotAcceptedDetail'],
])('gives a detail the name that clients of %s know', (version, name) => {
  const members = { missing: [{ id: 'i', label: 'l', url: 'u' }] }
  const details = [detail('chainguard.platform.iam.v2.TermsNotAcceptedDetail', members)]
  const status = statusOfError(new ApiError('FAILED_PRECONDITION', 'm', { details }), { ...v1, version })
  expect(detailsOf(status)).toEqual([[name, members]])
})

it('leaves out details whose type or form is not known, and those beyond the room of a head', () => {
  const info = (reason: string) => detail('google.rpc.ErrorInfo', { reason })
  const details = [detail('x.Y', { a: 1 }), info(1 as never), info('a'.repeat(4000)), info('kept')]
  const status = statusOfError(new ApiError('INTERNAL', 'm', { details }), v1)
  expect(detailsOf(status)).toEqual([['google.rpc.ErrorInfo', { reason: 'kept' }]])
})

const answer = (status: number, body: object): Answer => ({ status, headers: {}, ...body }) as Answer

it.each<[string, Answer, number, string]>([
  ['a number', answer(404, { body: { code: 5, message: 'gone' } }), 5, 'gone'],
  ['a name', answer(404, { written: '{"code":"NOT_FOUND","message":"gone"}' }), 5, 'gone'],
  ['UNKNOWN itself', answer(500, { body: { code: 2, message: 'm' } }), 2, 'm'],
  ['no message', answer(400, { body: { code: 9 } }), 9, ''],
])('reads a status with %s', async (_, given, code, message) => {
  expect(await statusOfAnswer(given, v1)).toEqual({ code, message, details: [] })
})

it.each<[number, string, number]>([
  [502, '<html>bad gateway</html>', 14],
  [404, 'not found', 12],
  [429, '', 8],
  [401, '{"error":"no"}', 16],
  [500, '{"code":0}', 13],
  [418, '{"code":99}', 9],
])('reads the meaning of HTTP %i from a body that is no status', async (http, text, code) => {
  async function* stream() {
    yield Buffer.from(text)
  }
  const message = `the service answered HTTP ${http} without an error body`
  expect(await statusOfAnswer(answer(http, { stream: stream() }), v1)).toEqual({ code, message, details: [] })
})
