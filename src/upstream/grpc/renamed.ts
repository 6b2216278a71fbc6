import type { OutgoingHttpHeaders } from 'node:http2'
import { statusBytes, unpadded } from '../../wire/status/status-bytes.ts'
import { detailsOf } from './status-details.ts'
import { messageOfStatus } from './unary-metadata.ts'

/** The names under which a service knows a method that the client calls by another one. */
export interface Renamed {
  /** The path of the call to the service. */
  readonly path: string
  /** Returns the client's name for the type of a detail. */
  readonly detail: (type: string) => string
}

/**
 * Returns the names of v2 for a method of v2beta1. Both have the same messages with the same numbers, so that nothing else differs.
 *
 *     inV2('/chainguard.platform.iam.v2beta1.GroupsService/ListGroups').path // '/chainguard.platform.iam.v2.GroupsService/ListGroups'
 */
export function inV2(path: string): Renamed {
  return { path: path.replace('.v2beta1.', '.v2.'), detail: (type) => type.replace('.v2.', '.v2beta1.') }
}

/** Renames the types of an error's details in the trailers of an answer, if they have other names for the client. */
export function withDetails(trailers: OutgoingHttpHeaders, { detail }: Renamed): OutgoingHttpHeaders {
  const known = detailsOf(trailers[DETAILS])
  const details = known.map(({ type, value }) => ({ type: detail(type), value }))
  if (details.every(({ type }, at) => type === known[at]?.type)) return trailers
  const status = { code: Number(trailers['grpc-status']), message: messageOfStatus(trailers['grpc-message']), details }
  return { ...trailers, [DETAILS]: unpadded(statusBytes(status)) }
}

const DETAILS = 'grpc-status-details-bin'
