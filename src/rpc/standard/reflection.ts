import {
  type DescFile,
  type DescMessage,
  type FileRegistry,
  fromBinary,
  fromJson,
  type JsonObject,
  toBinary,
  toJson,
} from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt'
import { ApiError, CODES } from '../../errors.ts'
import { standardRegistry } from './standard-facts.ts'

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
export type Reflect = (bytes: Uint8Array, sent: Set<string>) => Uint8Array

/** Creates what answers reflection: of which services there are, and with the files that describe them. */
export function createReflection(known: FileRegistry, services: readonly string[], packageName: string): Reflect {
  const own = standardRegistry()
  const [question, reply] = ['ServerReflectionRequest', 'ServerReflectionResponse'].map((name) => own.getMessage(`${packageName}.${name}`)!)
  const lookUp = <T>(find: (registry: FileRegistry) => T | undefined) => find(own) ?? find(known)
  const answerTo = (asked: Question, sent: Set<string>): JsonObject => {
    if (asked.listServices !== undefined) return { listServicesResponse: { service: services.map((name) => ({ name })) } }
    if (asked.fileByFilename !== undefined) {
      const name = asked.fileByFilename
      return filesFrom(
        lookUp((registry) => registry.getFile(name)),
        sent,
      )
    }
    if (asked.fileContainingSymbol !== undefined) {
      const name = asked.fileContainingSymbol
      return filesFrom(
        lookUp((registry) => fileOf(registry, name)),
        sent,
      )
    }
    const type = asked.allExtensionNumbersOfType
    if (type !== undefined && lookUp((registry) => registry.getMessage(type)))
      return { allExtensionNumbersResponse: { baseTypeName: type } }
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
    throw new ApiError('INTERNAL', `the request is no ${type.typeName}`, { cause })
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
