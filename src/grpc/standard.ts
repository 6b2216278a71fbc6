import { readFileSync } from 'node:fs'
import {
  create,
  createFileRegistry,
  type DescFile,
  type DescMessage,
  type FileRegistry,
  fromBinary,
  fromJson,
  type JsonObject,
  toBinary,
  toJson,
} from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { CODES } from '../errors.ts'
import type { Operation } from '../tables/operation.ts'
import { type Facts, type FactsOfBoth, factsFile, renamedFacts, routeOf, ruleOf, v2beta1Of } from './facts.ts'
import { protoFiles } from './proto-files.ts'
import { unreadableCall } from './wire/framing.ts'

/** The packages of reflection. Clients ask the older one where a server does not know the newer. */
export const REFLECTION = ['grpc.reflection.v1', 'grpc.reflection.v1alpha'] as const

export const HEALTH = 'grpc.health.v1'

let opened: FileRegistry | undefined

/** Returns the messages and services of health and reflection, built when they are first needed. */
export function standardRegistry(): FileRegistry {
  if (opened) return opened
  const facts: Facts = JSON.parse(readFileSync(factsFile('standard'), 'utf8'))
  const older = renamedFacts(facts, (name) => name.replace(...REFLECTION))
  opened = createFileRegistry(create(FileDescriptorSetSchema, { file: [...protoFiles([facts, older])] }))
  return opened
}

/** The state of a service, as grpc.health.v1 names it. */
export type HealthStatus = 'SERVING' | 'NOT_SERVING' | 'SERVICE_UNKNOWN'

const typeOf = (name: string) => standardRegistry().getMessage(`${HEALTH}.${name}`)!

/** Reads the name of the service that a health check asks about; empty for the whole process. Throws an ApiError. */
export function askedService(bytes: Uint8Array): string {
  try {
    const type = typeOf('HealthCheckRequest')
    const { service = '' } = toJson(type, fromBinary(type, bytes)) as { readonly service?: string }
    return service
  } catch (cause) {
    throw unreadableCall('the request is not a HealthCheckRequest', cause)
  }
}

/** Writes the answer of a health check. */
export function healthBytes(status: HealthStatus): Uint8Array {
  const type = typeOf('HealthCheckResponse')
  return toBinary(type, fromJson(type, { status }))
}

/** Writes the answer that lists the state of every service. */
export function healthListBytes(services: readonly string[], status: HealthStatus): Uint8Array {
  const type = typeOf('HealthListResponse')
  return toBinary(type, fromJson(type, { statuses: Object.fromEntries(services.map((service) => [service, { status }])) }))
}

/** One question of reflection; exactly one member beside `host` is there. */
interface Question {
  readonly host?: string
  readonly fileByFilename?: string
  readonly fileContainingSymbol?: string
  readonly allExtensionNumbersOfType?: string
  readonly listServices?: string
  readonly fileContainingExtension?: { readonly containingType?: string; readonly extensionNumber?: number }
}

/** Answers questions of one reflection stream. `sent` names the files that its client has. */
type Reflect = (bytes: Uint8Array, sent: Set<string>) => Uint8Array

/** Creates what answers reflection: of which services there are, and with the files that describe them. */
export function createReflection(known: FileRegistry, services: readonly string[], packageName: string): Reflect {
  const own = standardRegistry()
  const [question, reply] = ['ServerReflectionRequest', 'ServerReflectionResponse'].map((name) => own.getMessage(`${packageName}.${name}`)!)
  const find = <T>(look: (registry: FileRegistry) => T | undefined) => look(own) ?? look(known)
  const answerTo = (asked: Question, sent: Set<string>): JsonObject => {
    const { fileByFilename: file, fileContainingSymbol: symbol, allExtensionNumbersOfType: type } = asked
    if (asked.listServices !== undefined) return { listServicesResponse: { service: services.map((name) => ({ name })) } }
    if (file !== undefined)
      return filesFrom(
        find((registry) => registry.getFile(file)),
        sent,
      )
    if (symbol !== undefined)
      return filesFrom(
        find((registry) => fileOf(registry, symbol)),
        sent,
      )
    if (type !== undefined && find((registry) => registry.getMessage(type))) return { allExtensionNumbersResponse: { baseTypeName: type } }
    return NOT_FOUND
  }
  return (bytes, sent) => {
    const asked = read(question!, bytes)
    const { host = '' } = asked
    return toBinary(reply!, fromJson(reply!, { validHost: host, originalRequest: { ...asked } as JsonObject, ...answerTo(asked, sent) }))
  }
}

/** No proto of v1 or v2 has extensions. */
const NOT_FOUND: JsonObject = { errorResponse: { errorCode: CODES.NOT_FOUND.number, errorMessage: 'not found' } }

function read(type: DescMessage, bytes: Uint8Array): Question {
  try {
    return toJson(type, fromBinary(type, bytes)) as Question
  } catch (cause) {
    throw unreadableCall(`the request is not a ${type.typeName}`, cause)
  }
}

/** The file of a message, enum or service, or of a field or method. */
function fileOf(registry: FileRegistry, symbol: string): DescFile | undefined {
  const type = registry.get(symbol)
  if (type) return type.file
  const at = symbol.lastIndexOf('.')
  const [outer, name] = [registry.get(symbol.slice(0, at)), symbol.slice(at + 1)]
  const members = outer?.kind === 'message' ? outer.fields : outer?.kind === 'service' ? outer.methods : []
  return members.some((member) => member.name === name) ? outer?.file : undefined
}

/** The file and those it imports, without what the client has. The file that was asked for always comes, and first. */
function filesFrom(file: DescFile | undefined, sent: Set<string>): JsonObject {
  if (!file) return NOT_FOUND
  sent.delete(file.proto.name)
  const files: DescFile[] = []
  const add = (one: DescFile) => {
    if (sent.has(one.proto.name)) return
    sent.add(one.proto.name)
    files.push(one)
    one.dependencies.forEach(add)
  }
  add(file)
  const bytes = files.map(({ proto }) => Buffer.from(toBinary(FileDescriptorProtoSchema, proto)).toString('base64'))
  return { fileDescriptorResponse: { fileDescriptorProto: bytes } }
}

/** Which services a process serves. */
interface ServedSettings {
  /** A v1 service stands behind the proxy and answers what v2 cannot. */
  readonly hasV1: boolean
  /** Calls of v2beta1 are calls of v2; as they are, only v2 knows whether it serves them. */
  readonly asV2: boolean
  readonly reflection: boolean
}

/**
 * Returns the names of the gRPC services that a process serves: of v1 those with a method that it can answer, all of v2, and its own.
 */
export function servedServices(
  operations: readonly Operation[],
  { v1, v2 }: FactsOfBoth,
  { hasV1, asV2, reflection }: ServedSettings,
): readonly string[] {
  const answered = new Set(operations.filter(({ begin }) => hasV1 || begin).map(routeOf))
  const ofV1 = Object.entries(v1.services).filter(([, methods]) =>
    Object.values(methods).some(({ http }) => {
      const rule = ruleOf(http)
      return rule ? answered.has(routeOf(rule)) : hasV1
    }),
  )
  return [
    ...ofV1.map(([name]) => name),
    ...Object.keys(v2.services),
    ...(asV2 ? Object.keys(v2beta1Of(v2).services) : []),
    `${HEALTH}.Health`,
    ...(reflection ? REFLECTION.map((name) => `${name}.ServerReflection`) : []),
  ].sort()
}
