import { mappings } from '../../../mappings/index.ts'
import { readFacts } from '../../../src/grpc/facts.ts'
import { openRpc, type RpcMethod } from '../../../src/grpc/proto-files.ts'

/** The methods of all versions. */
export const rpc = openRpc(
  mappings.flatMap(({ operations }) => operations),
  readFacts(),
)

/** Returns a method of v1 by its short name: `iam.Groups/List`. */
export function v1Method(name: string): RpcMethod {
  const method = rpc.find(`/chainguard.platform.${name}`)
  if (!method) throw new Error(`no method ${name}`)
  return method
}
