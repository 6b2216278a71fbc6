import { fromBinary, fromJson, type JsonObject, type JsonValue, toBinary, toJson } from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt'
import { status } from '@grpc/grpc-js'
import { describe, expect, it } from 'vitest'
import { mappings } from '../../mappings/index.ts'
import { ApiError } from '../../src/errors.ts'
import { createHealthCalls } from '../../src/grpc/calls/standard.ts'
import { readFacts } from '../../src/grpc/facts.ts'
import { createReflection, REFLECTION, servedServices, standardRegistry } from '../../src/grpc/standard.ts'
import type { WireStreamCall } from '../../src/grpc/wire/grpc.ts'
import { Firing } from '../../src/serve/signals.ts'
import { NOWHERE, startStage, type TestProxy } from '../stage/stage.ts'
import { callPath, connect } from './client.ts'
import { rpc } from './messages.ts'

describe('reflection', () => {
  const SERVICES = ['a.A', 'b.B']
  const NOT_FOUND = { errorResponse: { errorCode: 5, errorMessage: 'not found' } }

  function ask(packageName: string, ...questions: readonly JsonValue[]) {
    const [question, reply] = ['Request', 'Response'].map((end) => standardRegistry().getMessage(`${packageName}.ServerReflection${end}`)!)
    const reflect = createReflection(rpc.registry, SERVICES, packageName)
    const sent = new Set<string>()
    return questions.map((asked) => {
      const bytes = reflect(toBinary(question!, fromJson(question!, asked)), sent)
      const { originalRequest, ...answer } = toJson(reply!, fromBinary(reply!, bytes)) as Record<string, JsonValue>
      expect(originalRequest).toEqual(asked)
      return answer
    })
  }

  function filesOf({ fileDescriptorResponse }: Record<string, JsonValue>): readonly string[] {
    const { fileDescriptorProto } = fileDescriptorResponse as JsonObject
    return (fileDescriptorProto as string[]).map((file) => fromBinary(FileDescriptorProtoSchema, Buffer.from(file, 'base64')).name)
  }

  describe.each(REFLECTION)('%s', (packageName) => {
    it('lists the services', () => {
      const [answer] = ask(packageName, { host: 'h', listServices: '*' })
      expect(answer).toEqual({ validHost: 'h', listServicesResponse: { service: [{ name: 'a.A' }, { name: 'b.B' }] } })
    })

    it.each([
      'chainguard.platform.advisory.SecurityAdvisory',
      'chainguard.platform.advisory.SecurityAdvisory.ListDocuments',
      'chainguard.platform.advisory.Document',
      'chainguard.platform.advisory.Document.advisories',
    ])('sends the file of %s, and what it imports', (symbol) => {
      const [answer] = ask(packageName, { fileContainingSymbol: symbol })
      expect(filesOf(answer!)).toEqual(['chainguard/platform/advisory.proto', 'google/protobuf/timestamp.proto'])
    })

    it('sends what a client has only if it asks for it', () => {
      const name = 'google/protobuf/timestamp.proto'
      const [first, again, later] = ask(
        packageName,
        { fileByFilename: name },
        { fileByFilename: name },
        { fileContainingSymbol: 'chainguard.platform.advisory.Document' },
      )
      expect([filesOf(first!), filesOf(again!), filesOf(later!)]).toEqual([[name], [name], ['chainguard/platform/advisory.proto']])
    })

    it('describes itself and health', () => {
      const symbols = [`${packageName}.ServerReflection`, 'grpc.health.v1.Health']
      const answers = ask(packageName, ...symbols.map((fileContainingSymbol) => ({ fileContainingSymbol })))
      expect(answers.map(filesOf)).toEqual([[`${packageName.replaceAll('.', '/')}.proto`], ['grpc/health/v1.proto']])
    })

    it.each([
      { fileByFilename: 'other.proto' },
      { fileContainingSymbol: 'chainguard.platform.ping.Other' },
      { fileContainingSymbol: 'chainguard.platform.ping.PingService.Other' },
      { fileContainingSymbol: '' },
      { fileContainingExtension: { containingType: 'google.rpc.Status', extensionNumber: 1 } },
      { allExtensionNumbersOfType: 'a.A' },
      {},
    ])('finds nothing for %j', (question) => {
      expect(ask(packageName, question)).toEqual([NOT_FOUND])
    })

    it('knows that a message has no extensions', () => {
      const type = 'google.rpc.Status'
      expect(ask(packageName, { allExtensionNumbersOfType: type })).toEqual([{ allExtensionNumbersResponse: { baseTypeName: type } }])
    })
  })

  describe('the served services', () => {
    const operations = mappings.flatMap((mapping) => mapping.operations)
    const facts = readFacts()
    const served = (settings: Partial<Parameters<typeof servedServices>[2]>) =>
      servedServices(operations, facts, { hasV1: false, asV2: false, reflection: true, ...settings })

    it('are those of v1 with a method that v2 can answer, and those of v2', () => {
      const names = served({})
      expect(names).toEqual(expect.arrayContaining(['chainguard.platform.iam.Groups', 'chainguard.platform.iam.v2.GroupsService']))
      expect(names).not.toContain('chainguard.platform.libraries.Malware')
      expect(names.filter((name) => name.includes('v2beta1'))).toEqual([])
    })

    it('are all of v1 with a v1 service', () => {
      expect(served({ hasV1: true })).toEqual(expect.arrayContaining(Object.keys(facts.v1.services)))
    })

    it('are those of v2beta1 too if v2 answers them', () => {
      expect(served({ asV2: true })).toContain('chainguard.platform.iam.v2beta1.GroupsService')
    })

    it('are without reflection if it is turned off', () => {
      expect(served({ reflection: false }).filter((name) => name.startsWith('grpc.'))).toEqual(['grpc.health.v1.Health'])
    })

    it('are all described', () => {
      for (const name of served({ hasV1: true, asV2: true })) {
        expect(rpc.registry.getService(name) ?? standardRegistry().getService(name), name).toBeDefined()
      }
    })
  })
})

describe('health calls', () => {
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
})

describe('standard', async () => {
  const proxy = await startStage({ v1: null })
  const { sandbox } = proxy
  const client = connect(proxy.url)

  const messageOf = (name: string) => standardRegistry().getMessage(name)!

  async function ask(to: typeof client, path: string, [asks, answers]: readonly [string, string], question: JsonObject) {
    const bytes = toBinary(messageOf(asks), fromJson(messageOf(asks), question))
    const { messages, status: end } = await callPath(to, path, Buffer.from(bytes)).answer
    return {
      code: end.code,
      text: end.details,
      answers: messages.map((message) => toJson(messageOf(answers), fromBinary(messageOf(answers), message))),
    }
  }

  const CHECK = ['grpc.health.v1.HealthCheckRequest', 'grpc.health.v1.HealthCheckResponse'] as const
  const check = (service: string, to = client, method = 'Check') => ask(to, `/grpc.health.v1.Health/${method}`, CHECK, { service })

  const reflection = (version: string) => {
    const name = `grpc.reflection.${version}.ServerReflection`
    return { path: `/${name}/ServerReflectionInfo`, types: [`${name}Request`, `${name}Response`] as const }
  }

  const requestLines = ({ log }: TestProxy) => log.filter(({ msg }) => msg === 'request')

  it('answers health checks without a log line', async () => {
    const before = requestLines(proxy).length
    const serving = { code: status.OK, answers: [{ status: 'SERVING' }] }
    expect(await check('')).toMatchObject(serving)
    expect(await check('chainguard.platform.iam.Groups')).toMatchObject(serving)
    expect(await check('chainguard.platform.iam.Trees')).toMatchObject({ code: status.NOT_FOUND, text: 'unknown service', answers: [] })
    expect(await check('', client, 'Drain')).toMatchObject({ code: status.UNIMPLEMENTED })
    expect(requestLines(proxy).slice(before)).toEqual([])
  })

  it('answers health checks when no other call is admitted', async () => {
    const busy = await startStage({ v1: null, sandbox, proxy: { 'limits.callerPerSecond': 1 } })
    const to = connect(busy.url)
    for (let nth = 0; nth < 3; nth += 1) {
      expect(await check('', to)).toMatchObject({ code: status.OK })
    }
  })

  it('keeps health checks apart from the room of all bodies', async () => {
    const full = await startStage({ v1: null, sandbox, proxy: { 'limits.requestBytes': 1, 'limits.bodiesBytes': 1 } })
    const to = connect(full.url)
    expect(await check('chainguard.platform.iam.Groups', to)).toMatchObject({ code: status.OK })
    expect(await check('x'.repeat(16 * 1024), to)).toMatchObject({ code: status.RESOURCE_EXHAUSTED })
  })

  it('is not healthy before v2 has answered', async () => {
    const early = await startStage({ v1: null, v2: NOWHERE })
    expect(await check('', connect(early.url))).toMatchObject({ answers: [{ status: 'NOT_SERVING' }] })
  })

  it.each(['v1', 'v1alpha'])('answers reflection %s', async (version) => {
    const { path, types } = reflection(version)
    const { code, answers } = await ask(client, path, types, { fileContainingSymbol: 'chainguard.platform.ping.PingService' })
    expect(code).toBe(status.OK)
    expect(answers).toMatchObject([{ fileDescriptorResponse: { fileDescriptorProto: [expect.any(String)] } }])
    expect(requestLines(proxy).at(-1)).toMatchObject({ operation: 'reflection', grpcStatus: 'OK' })
  })

  it('passes reflection to v2 where it is turned off', async () => {
    const plain = await startStage({ v1: null, sandbox, proxy: { 'grpc.reflection': false } })
    const { path, types } = reflection('v1')
    expect(await ask(connect(plain.url), path, types, { listServices: '' })).toMatchObject({ code: status.UNIMPLEMENTED, answers: [] })
    expect(requestLines(plain)).toMatchObject([{ operation: 'grpc', mode: 'native' }])
  })
})
