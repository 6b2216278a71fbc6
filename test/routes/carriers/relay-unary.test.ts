import { expect, it } from 'vitest'
import { mappings } from '../../../mappings/index.ts'
import { ApiError } from '../../../src/errors.ts'
import { relayUnary } from '../../../src/grpc/calls/destinations.ts'
import { readFacts } from '../../../src/grpc/facts.ts'
import { openRpc } from '../../../src/grpc/proto-files.ts'
import type { CallUnary } from '../../../src/grpc/relay/unary.ts'
import { newRequestRecord } from '../../../src/serve/core.ts'
import { callTimes } from '../../stage/call-times.ts'

const { registry, find } = openRpc(
  mappings.flatMap(({ operations }) => operations),
  readFacts(),
)

function relay(name: string, call: CallUnary) {
  const method = find(`/chainguard.platform.${name}`)
  if (!method) throw new Error(`no method ${name}`)
  const headers = { authorization: 'Bearer t', 'x-crosswalk-mode': 'v1', 'x-request-id': 'theirs' }
  const signal = callTimes()
  const asked = { path: method.path, protocol: 'grpc', codec: 'proto', headers, timeoutMs: 5, isGet: false, signal } as const
  return relayUnary(
    { call, registry, limits: { messageBytes: 1000, rowsPerRequest: 10 } },
    { method, call: { ...asked, message: Buffer.from([1]) }, record: newRequestRecord('ours') },
  )
}

it('sends the request id, and nothing that is meant for the proxy', async () => {
  let sent: Parameters<CallUnary>[0] | undefined
  const answer = { status: undefined, message: Buffer.from([2]), headers: {}, trailers: {} }
  const reply = await relay('iam.Groups/List', async (call) => {
    sent = call
    return answer
  })
  expect(sent?.headers).toEqual({ authorization: 'Bearer t', 'x-request-id': 'ours' })
  expect([sent?.message, reply]).toEqual([Buffer.from([1]), { message: [Buffer.from([2])], headers: {}, trailers: {} }])
})

const unsent = { unsent: true } as const

it.each([
  ['iam.Groups/Create', new ApiError('UNAVAILABLE', 'broke'), 'UNKNOWN'],
  ['iam.Groups/Create', new ApiError('RESOURCE_EXHAUSTED', 'too long'), 'UNKNOWN'],
  ['iam.Groups/Create', new ApiError('UNAVAILABLE', 'not reached', unsent), 'UNAVAILABLE'],
  ['iam.Groups/List', new ApiError('UNAVAILABLE', 'broke'), 'UNAVAILABLE'],
])('rejects %s after %s with %s', async (name, error, code) => {
  await expect(relay(name, () => Promise.reject(error))).rejects.toMatchObject({ code })
})
