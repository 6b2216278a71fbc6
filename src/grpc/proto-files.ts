import { create, createFileRegistry, type DescMessage, type FileRegistry, type MessageInitShape } from '@bufbuild/protobuf'
import {
  type DescriptorProtoSchema,
  type FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  file_google_protobuf_any,
  file_google_protobuf_duration,
  file_google_protobuf_empty,
  file_google_protobuf_field_mask,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
} from '@bufbuild/protobuf/wkt'
import type { Operation } from '../tables/operation.ts'
import {
  type Facts,
  type FactsOfBoth,
  type FieldFact,
  type HttpRule,
  jsonNameOf,
  readFacts,
  readFieldType,
  routeOf,
  ruleOf,
  serviceIn,
  v2beta1Of,
} from './facts.ts'

type MessageInit = MessageInitShape<typeof DescriptorProtoSchema>
type FieldInit = NonNullable<MessageInit['field']>[number]
type IsEnum = (type: string) => boolean

/** The scalar types that the facts use. */
const SCALARS: Readonly<Record<string, Type>> = {
  bool: Type.BOOL,
  bytes: Type.BYTES,
  double: Type.DOUBLE,
  int32: Type.INT32,
  int64: Type.INT64,
  string: Type.STRING,
  uint32: Type.UINT32,
  uint64: Type.UINT64,
}

/** The descriptor of a message without its name. Of the types that are nested in it, it has the entries of its maps alone. */
interface OwnDescriptor {
  readonly field: FieldInit[]
  readonly oneofDecl: { readonly name: string }[]
  readonly entries: readonly MessageInit[]
}

/** Returns the descriptor of a message from the facts of its fields. */
function messageDescriptor(typeName: string, fields: Readonly<Record<string, FieldFact>>, isEnum: IsEnum): OwnDescriptor {
  const oneofs = oneofsOf(fields)
  const entries: MessageInit[] = []
  const field = Object.entries(fields).map(([name, [number, text, more]]): FieldInit => {
    const parts = readFieldType(text)
    if (!parts) throw new Error(`${typeName}.${name}: ${text} is not a type`)
    const base = { name, number, jsonName: more?.json ?? jsonNameOf(name), label: Label.REPEATED }
    if (parts.key !== undefined) {
      const entry = mapEntryOf(name, parts.key, parts.of, isEnum)
      entries.push(entry)
      return { ...base, type: Type.MESSAGE, typeName: `.${typeName}.${entry.name}` }
    }
    if (parts.label === 'repeated') return { ...base, ...typeOf(parts.of, isEnum) }
    const single = { ...base, ...typeOf(parts.of, isEnum), label: Label.OPTIONAL }
    if (parts.label === 'optional') return { ...single, proto3Optional: true, oneofIndex: oneofs.indexOf(`_${name}`) }
    return more?.oneof === undefined ? single : { ...single, oneofIndex: oneofs.indexOf(more.oneof) }
  })
  return { field, oneofDecl: oneofs.map((name) => ({ name })), entries }
}

/** protoc puts each optional field into a oneof of its own. These follow those that are written. */
function oneofsOf(fields: Readonly<Record<string, FieldFact>>): readonly string[] {
  const rows = Object.entries(fields)
  const written = new Set(rows.flatMap(([, [, , more]]) => more?.oneof ?? []))
  return [...written, ...rows.filter(([, [, type]]) => type.startsWith('optional ')).map(([name]) => `_${name}`)]
}

function typeOf(type: string, isEnum: IsEnum) {
  const scalar = SCALARS[type]
  if (scalar !== undefined) return { type: scalar }
  return { type: isEnum(type) ? Type.ENUM : Type.MESSAGE, typeName: `.${type}` }
}

/** A map is a repeated message with a key and a value. */
function mapEntryOf(field: string, key: string, value: string, isEnum: IsEnum) {
  const members = [
    ['key', 1, key],
    ['value', 2, value],
  ] as const
  return {
    name: `${jsonNameOf(`_${field}`)}Entry`,
    field: members.map(([name, number, type]) => ({ name, jsonName: name, number, label: Label.OPTIONAL, ...typeOf(type, isEnum) })),
    options: { mapEntry: true },
  }
}

type FileInit = MessageInitShape<typeof FileDescriptorProtoSchema> & { readonly name: string; readonly dependency: string[] }

const WELL_KNOWN = [
  file_google_protobuf_any,
  file_google_protobuf_duration,
  file_google_protobuf_empty,
  file_google_protobuf_field_mask,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
]

/** Returns the proto files that say what the facts say, one a package. A file stands after those that it imports. */
export function protoFiles(facts: readonly Facts[]): readonly FileInit[] {
  const files = new Map(filesOf(facts).map((file) => [file.name, file]))
  const ordered = new Map<string, FileInit>()
  const add = (file: FileInit) => {
    for (const name of file.dependency) add(files.get(name)!)
    ordered.set(file.name, file)
  }
  for (const { proto } of WELL_KNOWN) files.set(proto.name, proto)
  for (const file of files.values()) add(file)
  return [...ordered.values()]
}

function filesOf(facts: readonly Facts[]): readonly FileInit[] {
  const services = [...new Map(facts.flatMap((one) => Object.entries(one.services)))]
  const messages = new Map(facts.flatMap((one) => Object.entries(one.messages)))
  const enums = new Map(facts.flatMap((one) => Object.entries(one.enums)))
  const messagesIn = byOuter(messages.keys())
  const enumsIn = byOuter(enums.keys())
  const enumType = (outer: string) =>
    (enumsIn.get(outer) ?? []).map((typeName) => ({
      name: nameOf(typeName),
      value: Object.entries(enums.get(typeName)!).map(([name, number]) => ({ name, number })),
    }))
  const messageType = (outer: string): MessageInit[] =>
    (messagesIn.get(outer) ?? []).map((typeName) => {
      const { entries, ...own } = messageDescriptor(typeName, messages.get(typeName)!, (type) => enums.has(type))
      return { name: nameOf(typeName), ...own, nestedType: [...entries, ...messageType(typeName)], enumType: enumType(typeName) }
    })
  const uses = [
    ...[...messages].map(([typeName, fields]) => [packageOf(typeName), typesOf(fields)] as const),
    ...services.map(([name, methods]) => [packageOf(name), Object.values(methods).flatMap((method) => [method.in, method.out])] as const),
  ]
  return [...new Set([...uses.map(([name]) => name), ...[...enums.keys()].map(packageOf)])].map((name) => ({
    name: fileNameOf(name),
    package: name,
    syntax: 'proto3',
    dependency: importsOf(name, uses),
    messageType: messageType(name),
    enumType: enumType(name),
    service: services
      .filter(([service]) => outerOf(service) === name)
      .map(([service, methods]) => ({
        name: nameOf(service),
        method: Object.entries(methods).map(([method, fact]) => ({
          name: method,
          inputType: `.${fact.in}`,
          outputType: `.${fact.out}`,
          serverStreaming: fact.streams !== undefined,
          clientStreaming: fact.streams === 'both',
        })),
      })),
  }))
}

/** Type names by what they are nested in. */
function byOuter(typeNames: Iterable<string>): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>()
  for (const typeName of typeNames) groups.set(outerOf(typeName), [...(groups.get(outerOf(typeName)) ?? []), typeName])
  return groups
}

/** The files that a package imports. */
function importsOf(packageName: string, uses: readonly (readonly [packageName: string, types: readonly string[]])[]): string[] {
  const types = uses.filter(([name]) => name === packageName).flatMap(([, used]) => used)
  const foreign = types.filter((type) => packageOf(type) !== '' && packageOf(type) !== packageName)
  return [...new Set(foreign.map((type) => WELL_KNOWN_FILES.get(type) ?? fileNameOf(packageOf(type))))]
}

const WELL_KNOWN_FILES = new Map(WELL_KNOWN.flatMap(({ messages, proto }) => messages.map(({ typeName }) => [typeName, proto.name])))

function typesOf(fields: Readonly<Record<string, FieldFact>>): readonly string[] {
  return Object.values(fields).flatMap(([, text]) => readFieldType(text)?.of ?? [])
}

/** The package of a type: what stands before its first name with a capital letter. A scalar has none. */
function packageOf(typeName: string): string {
  return /^(?:[a-z]\w*\.)*/.exec(typeName)![0].slice(0, -1)
}

/** `chainguard.platform.iam` → `chainguard/platform/iam.proto`. The facts do not have the names of the vendor's files. */
function fileNameOf(packageName: string): string {
  return `${packageName.replaceAll('.', '/')}.proto`
}

/** The message that a type is nested in, or its package. */
function outerOf(typeName: string): string {
  return typeName.slice(0, typeName.lastIndexOf('.'))
}

function nameOf(typeName: string): string {
  return typeName.slice(typeName.lastIndexOf('.') + 1)
}

/** The version of an API that gRPC clients speak. */
export type RpcVersion = 'v1' | 'v2' | 'v2beta1'

/** One gRPC method. */
export interface RpcMethod {
  /** `/chainguard.platform.iam.Groups/List`: the path of its calls. */
  readonly path: string
  readonly version: RpcVersion
  /** `chainguard.platform.iam.Groups`. */
  readonly service: string
  readonly name: string
  readonly input: DescMessage
  readonly output: DescMessage
  /** The REST request that says the same. `GroupInvites/CreateWithGroup` alone has none. */
  readonly rule: HttpRule | undefined
  /** True if the method has no side effects. */
  readonly isSafe: boolean
  /** True if an answer is a stream of messages. */
  readonly streams: boolean
  /** The operation of v1 with this route. */
  readonly operation: Operation | undefined
}

/** What is known of the gRPC services of v1, v2 and v2beta1. */
export interface Rpc {
  /** The method of a path: `find('/chainguard.platform.iam.Groups/List')`. */
  find(path: string): RpcMethod | undefined
  /** Whether a path names a service of v1, whatever its method. Those of v2 may have methods that nobody here knows. */
  isOfV1(path: string): boolean
  /** Every message, enum and service, the well-known types and the details of errors (`google.rpc`). */
  readonly registry: FileRegistry
  readonly methods: readonly RpcMethod[]
}

/**
 * Builds the descriptors of every method. It takes some 30 ms and 16 MB: only a gRPC call needs it.
 *
 *     openRpc(operations, readFacts()).find('/chainguard.platform.iam.Groups/List')?.input.typeName
 */
export function openRpc(operations: readonly Operation[], { v1, v2 }: FactsOfBoth): Rpc {
  const versions: readonly (readonly [RpcVersion, Facts])[] = [
    ['v1', v1],
    ['v2', v2],
    ['v2beta1', v2beta1Of(v2)],
  ]
  const files = protoFiles(versions.map(([, facts]) => facts))
  const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: [...files] }))
  const byRoute = new Map(operations.map((operation) => [routeOf(operation), operation]))
  const methods = versions.flatMap(([version, { services }]) =>
    Object.entries(services).flatMap(([service, facts]) =>
      Object.entries(facts).map(([name, fact]): RpcMethod => {
        const rule = ruleOf(fact.http)
        const operation = version === 'v1' && rule ? byRoute.get(routeOf(rule)) : undefined
        const [input, output] = [registry.getMessage(fact.in)!, registry.getMessage(fact.out)!]
        const isSafe = rule?.method === 'GET' || fact.safe === true
        const streams = fact.streams !== undefined
        return { path: `/${service}/${name}`, version, service, name, input, output, rule, isSafe, streams, operation }
      }),
    ),
  )
  const byPath = new Map(methods.map((method) => [method.path, method]))
  const ofV1 = new Set(methods.filter(({ version }) => version === 'v1').map(({ service }) => service))
  return {
    find: (path) => byPath.get(path),
    isOfV1: (path) => ofV1.has(serviceIn(path)),
    registry,
    methods,
  }
}

/** What was opened last in this process. */
let opened: { readonly operations: readonly Operation[]; readonly rpc: Rpc } | undefined

/** Opens the published services, or returns what was opened for the same operations: the servers of a process share it. */
export function sharedRpc(operations: readonly Operation[]): Rpc {
  const isSame = opened?.operations.length === operations.length && operations.every((one, at) => one === opened?.operations[at])
  if (!opened || !isSame) opened = { operations, rpc: openRpc(operations, readFacts()) }
  return opened.rpc
}
