import { fromJson, type JsonValue, toBinary } from '@bufbuild/protobuf'
import { expect, it } from 'vitest'
import { requestOf, sameCall } from '../../../src/grpc/messages/request-of.ts'
import type { RpcMethod } from '../../../src/grpc/proto-files.ts'
import { rpc } from './messages.ts'
import { drawFrom, randomJson } from './random-json.ts'

const SEED = 4711

function requestFrom(method: RpcMethod, json: unknown) {
  const bytes = toBinary(method.input, fromJson(method.input, json as JsonValue))
  const { method: verb, url, body } = requestOf(method, bytes, 'proto')
  return { method: verb, url, body: body?.toString() }
}

/** Gives a value to each variable of the path, so that the request leads to its method. */
function named({ input, rule }: RpcMethod, json: Record<string, unknown>): unknown {
  for (const [, name = ''] of rule?.template.matchAll(/\{([^{}=]+)/g) ?? []) {
    const [first = '', second] = name.split('.')
    const key = input.fields.find((field) => field.name === first)?.jsonName ?? first
    delete json[first]
    json[key] = second ? { ...(json[key] as object), [second]: 'a1/b2' } : 'a1'
  }
  return json
}

it(`reads every REST request of v2 back into its method and message (seed ${SEED})`, () => {
  const draw = drawFrom(SEED)
  const ofV2 = rpc.methods.filter(({ version }) => version === 'v2')
  for (const method of ofV2) {
    for (let round = 0; round < 5; round += 1) {
      const request = requestFrom(method, named(method, randomJson(method.input, draw)))
      const { pathname, searchParams } = new URL(request.url, 'http://v2')
      const body = request.body === undefined ? undefined : (JSON.parse(request.body) as unknown)
      const same = sameCall(ofV2, { method: request.method, path: decodeURIComponent(pathname), query: [...searchParams], body })
      expect(same?.method.path).toBe(method.path)
      expect(requestFrom(method, same?.message)).toEqual(request)
    }
  }
})

it('finds no method for a route of another API', () => {
  expect(sameCall(rpc.methods, { method: 'GET', path: '/iam/v3/groups', query: [] })).toBeUndefined()
})
