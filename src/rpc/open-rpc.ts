import { create, createFileRegistry, type DescMessage, type FileRegistry } from '@bufbuild/protobuf'
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import type { Operation } from '../tables/operation.ts'
import { type Facts, type FactsOfBoth, v2beta1Of } from './facts.ts'
import { type HttpRule, routeOf, ruleOf } from './http-rule.ts'
import { serviceIn } from './method-path.ts'
import { protoFiles } from './proto-files.ts'

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
  /** The operation of v1 with this route. */
  readonly operation: Operation | undefined
}

/** What is known of the gRPC services of v1, v2 and v2beta1. */
export interface Rpc {
  /** The method of a path: `find('/chainguard.platform.iam.Groups/List')`. */
  find(path: string): RpcMethod | undefined
  /** Whether a path names a service that is known, whatever its method. */
  knowsService(path: string): boolean
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
        return { path: `/${service}/${name}`, version, service, name, input, output, rule, operation }
      }),
    ),
  )
  const byPath = new Map(methods.map((method) => [method.path, method]))
  const known = new Set(methods.map(({ service }) => service))
  return {
    find: (path) => byPath.get(path),
    knowsService: (path) => known.has(serviceIn(path)),
    registry,
    methods,
  }
}
