import http2 from 'node:http2'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { createGrpc, inV2 } from '../../../src/grpc/relay/relay.ts'
import { detailsOf } from '../../../src/grpc/relay/unary.ts'
import { statusBytes } from '../../../src/grpc/wire/status.ts'
import type { OnGrpc } from '../../../src/serve/listen/http2.ts'
import { answerWith, startBareService } from '../../grpc/bare-service.ts'
import { callPath, connect } from '../../grpc/client.ts'

const TERMS = {
  code: 9,
  message: '5 % of the terms',
  details: [{ type: 'chainguard.platform.iam.v2.TermsNotAcceptedDetail', value: Buffer.from([1]) }],
}
const RESOURCE = { code: 5, message: 'gone', details: [{ type: 'google.rpc.ResourceInfo', value: Buffer.from([10, 0]) }] }

/** Relays calls of v2beta1 to a service that knows them as v2 and refuses each with this status. Returns the trailers and the path. */
async function refusedWith(status: typeof TERMS) {
  let path: string | undefined
  const trailers = {
    'grpc-status': String(status.code),
    'grpc-message': encodeURI(status.message),
    'grpc-status-details-bin': statusBytes(status).toString('base64'),
  }
  const bare = await startBareService((stream, headers) => {
    path = headers[':path']
    answerWith(stream, Buffer.alloc(0), trailers)
  })
  const grpc = createGrpc(bare.url, { service: 'v2', connections: 1, connectTimeoutMs: 3000, answerBytes: 1000 })
  const onStream: OnGrpc = (stream, headers, raw) =>
    grpc.relay(stream, headers, raw, () => {}, { renamed: inV2(headers[':path'] ?? ''), timed: { moved: 0 } })
  const server = http2.createServer()
  server.on('stream', (stream, headers, ...[, raw]: [number, string[]?]) => onStream(stream, headers, raw ?? []))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  onTestFinished(() => {
    client.close()
    server.close()
    grpc.close()
    bare.close()
  })
  const { status: end } = await callPath(client, '/chainguard.platform.iam.v2beta1.GroupsService/Create').answer
  return {
    path,
    end,
    details: detailsOf(end.metadata.get('grpc-status-details-bin').map((value) => Buffer.from(value).toString('base64'))[0]),
  }
}

it('calls a method of v2beta1 by its name in v2, and gives the client its own names of details', async () => {
  const { path, end, details } = await refusedWith(TERMS)
  expect(path).toBe('/chainguard.platform.iam.v2.GroupsService/Create')
  expect(end).toMatchObject({ code: 9, details: '5 % of the terms' })
  expect(details).toEqual([{ type: 'chainguard.platform.iam.v2beta1.TermsNotAcceptedDetail', value: Buffer.from([1]) }])
})

it('leaves details of other packages as they came', async () => {
  expect((await refusedWith(RESOURCE)).details).toEqual(RESOURCE.details)
})
