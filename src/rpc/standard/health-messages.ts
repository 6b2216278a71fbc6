import { fromBinary, fromJson, toBinary, toJson } from '@bufbuild/protobuf'
import { ApiError } from '../../errors.ts'
import { HEALTH, standardRegistry } from './standard-facts.ts'

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
    throw new ApiError('INTERNAL', 'the request is no HealthCheckRequest', { cause })
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
