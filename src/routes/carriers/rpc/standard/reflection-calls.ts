import type { Rpc } from '../../../../rpc/open-rpc.ts'
import { createReflection } from '../../../../rpc/standard/reflection.ts'
import type { WireStreamHandler } from '../../../../wire/serve-grpc-stream.ts'

export interface ReflectionParts {
  /** The services that the process serves. */
  readonly services: readonly string[]
  readonly opened: () => Promise<Rpc>
}

/** Returns what answers `ServerReflectionInfo` of a package: an answer for each question. */
export function createReflectionCalls({ services, opened }: ReflectionParts): (packageName: string) => WireStreamHandler {
  return (packageName) =>
    async function* ({ messages }) {
      const { registry } = await opened()
      const reflect = createReflection(registry, services, packageName)
      const sent = new Set<string>()
      for await (const message of messages) yield reflect(message, sent)
    }
}
