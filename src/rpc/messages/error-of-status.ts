import { type DescMessage, fromBinary, type Registry, toJson } from '@bufbuild/protobuf'
import { ApiError, codeName, type Detail } from '../../errors.ts'
import type { RpcStatus } from './status-of.ts'

const PREFIX = 'type.googleapis.com/'
const ERROR_INFO = 'google.rpc.ErrorInfo'

/** Returns the error that a status of gRPC says, as REST would have said it. A detail of an unknown type is left out. */
export function errorOfStatus({ code, message, details }: RpcStatus, registry: Registry): ApiError {
  const known = details.flatMap(({ type, value }) => {
    const described = registry.getMessage(type)
    return described ? [detailOf(described, value, registry)] : []
  })
  const isForeign = !details.some(({ type }) => type === ERROR_INFO)
  return new ApiError(codeName(code), message, { details: known.filter((one) => one !== undefined), ...(isForeign && { foreign: true }) })
}

function detailOf(type: DescMessage, value: Uint8Array, registry: Registry): Detail | undefined {
  try {
    return { '@type': PREFIX + type.typeName, ...(toJson(type, fromBinary(type, value), { registry }) as object) }
  } catch {
    return undefined
  }
}
