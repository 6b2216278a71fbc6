import protojson from 'protobufjs/ext/protojson.js'
import { expect, test } from 'vitest'
import { readPublishedFacts } from '../../../src/sandbox/grpc/protos.ts'
import { grpcApi } from '../../../src/sandbox/grpc/server.ts'
import { createRouter } from '../../../src/sandbox/http/route.ts'
import { serviceRoutes } from '../../../src/sandbox/start.ts'
import { running } from '../running.ts'
import { grpcClient } from './grpc-client.ts'

const { sandbox, get } = running({ v1Dialect: 'published' })
const { call } = grpcClient(() => sandbox().url)
const router = createRouter(serviceRoutes)

/** The reads without a variable in the path that the sandbox serves. */
const reads = Object.entries(readPublishedFacts().services).flatMap(([service, methods]) =>
  Object.keys(methods).flatMap((name) => {
    const path = `/${service}/${name}`
    const { rule } = grpcApi().find(path)!
    return rule?.method === 'GET' && rule.variables.length === 0 && router.named('GET', rule.template, [])
      ? [{ path, template: rule.template }]
      : []
  }),
)

/** Page tokens are new for each answer. */
const masked = (json: unknown): unknown => JSON.parse(JSON.stringify(json), (name, value) => (name === 'nextPageToken' ? 'next' : value))

test.each(reads)('answers $path with the content of REST', async ({ path, template }) => {
  const { output } = grpcApi().find(path)!
  const [rest, grpc] = await Promise.all([get(template), call(path)])
  expect([grpc.code, grpc.message]).toEqual(rest.status === 200 ? [0, ''] : [rest.json.code, rest.json.message])
  // Every member of REST has its place in the message: an unknown one would throw here.
  if (rest.status === 200) expect(masked(grpc.json)).toEqual(masked(protojson.toJson(output, protojson.fromJson(output, rest.json))))
})
