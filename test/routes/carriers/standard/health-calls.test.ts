import { fromBinary, fromJson, toBinary, toJson } from '@bufbuild/protobuf'
import { expect, it } from 'vitest'
import { ApiError } from '../../../../src/errors.ts'
import { createHealthCalls } from '../../../../src/grpc/calls/standard.ts'
import { standardRegistry } from '../../../../src/grpc/standard.ts'
import type { WireStreamCall } from '../../../../src/grpc/wire/grpc.ts'
import { Firing } from '../../../../src/serve/signals.ts'

const request = standardRegistry().getMessage('grpc.health.v1.HealthCheckRequest')!
const response = standardRegistry().getMessage('grpc.health.v1.HealthCheckResponse')!
const asking = (service: string) => Buffer.from(toBinary(request, fromJson(request, { service })))

async function* these(messages: readonly Buffer[]) {
  yield* messages
}

/** A process whose readiness a test changes, and whose next look it calls. */
function startHealth() {
  let notReady: string | undefined
  let look = () => {}
  let stopped = 0
  const leaving = new Firing()
  const client = new Firing()
  const methods = createHealthCalls({
    services: ['a.A'],
    readiness: async () => ({ notReady, services: {} }),
    leaving,
    later(next) {
      look = next
      return () => {
        stopped += 1
      }
    },
  })
  const call = (method: string, messages: readonly Buffer[]) => {
    const asked = { messages: these(messages), signal: client } as Partial<WireStreamCall> as WireStreamCall
    const answers = methods(method)!(asked)[Symbol.asyncIterator]()
    return async () => {
      const { value, done } = await answers.next()
      return done ? 'end' : (toJson(response, fromBinary(response, value)) as { readonly status: string }).status
    }
  }
  return {
    call,
    methods,
    leaving,
    client,
    stopped: () => stopped,
    become(problem: string | undefined) {
      notReady = problem
      look()
    },
  }
}

/** Until the watcher waits for its next look. */
const turn = () => new Promise((resolve) => setImmediate(resolve))

it('checks the process and each service', async () => {
  const { call, become } = startHealth()
  expect([await call('Check', [asking('')])(), await call('Check', [asking('a.A')])()]).toEqual(['SERVING', 'SERVING'])
  become('v2 is away')
  expect(await call('Check', [asking('')])()).toBe('NOT_SERVING')
})

it.each([
  ['a service that it does not serve', [asking('b.B')], 'NOT_FOUND'],
  ['no message', [], 'UNIMPLEMENTED'],
  ['two messages', [asking(''), asking('')], 'UNIMPLEMENTED'],
  ['bytes that are no message', [Buffer.from([0x0a, 0x05])], 'INTERNAL'],
] as const)('refuses %s', async (_, messages, code) => {
  const failure = await startHealth()
    .call('Check', messages)()
    .catch((thrown) => thrown)
  expect(failure).toBeInstanceOf(ApiError)
  expect(failure.code).toBe(code)
})

it('has no other method', () => {
  const { methods } = startHealth()
  expect([methods('Drain'), methods('toString')]).toEqual([undefined, undefined])
})

it('tells a watcher each change once', async () => {
  const { call, become } = startHealth()
  const next = call('Watch', [asking('a.A')])
  expect(await next()).toBe('SERVING')
  const second = next()
  await turn()
  become(undefined)
  await turn()
  become('v2 is away')
  expect(await second).toBe('NOT_SERVING')
})

it('keeps the watcher of an unknown service', async () => {
  const next = startHealth().call('Watch', [asking('b.B')])
  expect(await next()).toBe('SERVICE_UNKNOWN')
})

it('tells a watcher that the process leaves, and ends', async () => {
  const { call, become, leaving, stopped } = startHealth()
  const next = call('Watch', [asking('')])
  expect(await next()).toBe('SERVING')
  const second = next()
  await turn()
  become('the proxy is shutting down')
  leaving.abort(new Error('leaving'))
  expect(await second).toBe('NOT_SERVING')
  await expect(next()).rejects.toThrow('the proxy is shutting down')
  expect(stopped()).toBe(1)
})

it('stops looking when the client goes away', async () => {
  const { call, client, stopped } = startHealth()
  const next = call('Watch', [asking('')])
  await next()
  const second = next()
  await turn()
  client.abort(new Error('gone'))
  expect([await second, stopped()]).toEqual(['end', 1])
})
