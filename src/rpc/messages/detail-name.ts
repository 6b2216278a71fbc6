import { readFileSync } from 'node:fs'
import type { RpcVersion } from '../open-rpc.ts'

/** Details of v2 that v1 has in another package: name in v2 → name in v1. */
type DetailNames = Readonly<Record<string, string>>

let names: DetailNames | undefined

/** Returns the name that a version gives a detail of v2: v1 knows `chainguard.platform.iam.TermsNotAcceptedDetail`. */
export function detailName(type: string, version: RpcVersion): string {
  if (version === 'v2') return type
  if (version === 'v2beta1') return type.replace('.v2.', '.v2beta1.')
  names ??= readNames()
  return Object.hasOwn(names, type) ? (names[type] ?? type) : type
}

function readNames(): DetailNames {
  return JSON.parse(readFileSync(new URL('../../../mappings/grpc/error-details.json', import.meta.url), 'utf8')) as DetailNames
}
