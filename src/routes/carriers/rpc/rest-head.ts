import type { IncomingHttpHeaders } from 'node:http'
import type { RequestHead } from '../../../serve/request.ts'

/** Headers of the protocols of gRPC. The REST request of a call has its own body, and its answer is read here. */
const OF_THE_CALL = /^(?::|grpc-|connect-|content-|(?:x-grpc-web|transfer-encoding|te|accept|accept-encoding|connection|trailer)$)/

/** Returns the head of the REST request that a call becomes. The metadata of the client are its headers. */
export function restHead(
  { method, url, body }: { readonly method: string; readonly url: string; readonly body: Buffer | undefined },
  headers: IncomingHttpHeaders,
): RequestHead {
  const kept: IncomingHttpHeaders = {}
  for (const name in headers) if (!OF_THE_CALL.test(name)) kept[name] = headers[name]
  if (body) kept['content-type'] = 'application/json'
  return { method, url, headers: kept }
}
