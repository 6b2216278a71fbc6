import { fromBinary, fromJson, type JsonObject, type JsonValue, toBinary, toJson } from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt'
import { describe, expect, it } from 'vitest'
import { mappings } from '../../../mappings/index.ts'
import { readFacts } from '../../../src/grpc/facts.ts'
import { createReflection, REFLECTION, servedServices, standardRegistry } from '../../../src/grpc/standard.ts'
import { rpc } from '../messages/messages.ts'

const SERVICES = ['a.A', 'b.B']
const NOT_FOUND = { errorResponse: { errorCode: 5, errorMessage: 'not found' } }

/** Asks on one stream and returns the answers. */
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

/** The names of the files of an answer. */
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
