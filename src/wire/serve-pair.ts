import type { ServerResponse } from 'node:http'
import { CODES } from '../errors.ts'
import { whenClosed } from '../serve/signals.ts'
import { CallSignal } from './call-signal.ts'
import { carry } from './carry.ts'
import { connectCall } from './pairs/connect.ts'
import { connectGetCall } from './pairs/connect-get.ts'
import { grpcWebCall } from './pairs/grpc-web.ts'
import type { PairCall, WebPair } from './pairs/pair.ts'
import { failureStatus } from './status/wire-failure.ts'
import type { WireHandler, WireReply } from './wire-call.ts'
import type { WireSettings } from './wire-settings.ts'

/** Who answers a call that comes as an ordinary request. */
export interface PairHandler {
  readonly handler: WireHandler
  /** True if the method has no side effects, so that Connect may ask by GET. */
  readonly isSafe: boolean
  /** Called once, when the response is closed, with the code that the client sees; undefined for an answer without one (405, 415). */
  readonly ended?: (code: number | undefined) => void
}

/**
 * Serves one unary call of gRPC-Web or Connect over HTTP/1.1 or HTTP/2. A request with another method is answered 405, and one with
 * another content type 415. Headers that the response has already are kept.
 */
export type ServePair = (pair: WebPair, handler: PairHandler) => void

export function createServePair(settings: WireSettings): ServePair {
  return (pair, { handler, isSafe, ended = () => {} }) => {
    const { response } = pair
    const { method = '' } = pair.request
    if (method !== 'POST' && !(method === 'GET' && isSafe)) return refuse(response, 405, { allow: isSafe ? 'GET, POST' : 'POST' }, ended)
    const carried = method === 'GET' ? connectGetCall(pair, settings) : (grpcWebCall(pair, settings) ?? connectCall(pair, settings))
    if (!carried) return refuse(response, 415, { 'accept-post': TYPES }, ended)
    const { read, write } = watched(carried, response, ended)
    try {
      const timeoutMs = carried.timeoutMs()
      const signal = new CallSignal(response, settings.deadlines, timeoutMs)
      const call = { ...carried.call, timeoutMs }
      carry({ call, signal, read: () => read(signal), write }, handler, settings.failed).catch(settings.failed)
    } catch (thrown) {
      void write({ status: failureStatus(thrown) })
    }
  }
}

const TYPES = ['proto', 'json', 'grpc-web', 'grpc-web+proto', 'grpc-web+json', 'grpc-web-text']
  .map((type) => `application/${type}`)
  .join(', ')

function refuse(
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  ended: (code: undefined) => void,
): void {
  whenClosed(response, { over: () => ended(undefined), next: undefined })
  response.writeHead(status, { ...headers, 'content-length': 0 }).end()
}

/** Calls `ended` with the code of the answer, or CANCELLED if the client did not get it whole. */
function watched({ read, write }: PairCall, response: ServerResponse, ended: (code: number) => void): Pick<PairCall, 'read' | 'write'> {
  let sent = CODES.CANCELLED.number as number
  whenClosed(response, { over: () => ended(response.writableFinished ? sent : CODES.CANCELLED.number), next: undefined })
  return {
    read,
    write(reply: WireReply) {
      sent = 'status' in reply ? reply.status.code : CODES.OK.number
      return write(reply)
    },
  }
}
