import { ApiError } from '../../errors.ts'
import { refuseGrpc } from './client-answer.ts'
import type { Grpc } from './relay.ts'

/** Stands for the gRPC of a v2 service that speaks REST alone (`upstream.v2Grpc: rest`). Every call is UNIMPLEMENTED. */
export const noGrpc: Grpc = {
  relay: (client, headers, _, ended) => refuseGrpc(client, refusal(headers[':path']), ended),
  call: ({ path }) => Promise.reject(refusal(path)),
  stop() {},
  close() {},
}

function refusal(path: string | undefined): ApiError {
  return new ApiError('UNIMPLEMENTED', `v2 is asked over REST (upstream.v2Grpc: rest), which has no request for ${path}`)
}
