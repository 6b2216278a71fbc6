import { CODES, codeName, unrelayable } from '../../errors.ts'
import type { Service } from '../../serve/upstream/health.ts'
import { PREFIX } from '../../wire/framing/frame.ts'
import type { WireMetadata, WireStatus } from '../../wire/wire-call.ts'
import { foreignAnswer } from './failures.ts'
import { detailsOf } from './status-details.ts'
import type { GatheredAnswer } from './unary-exchange.ts'
import { isGrpcType, messageOfStatus, metadataOf } from './unary-metadata.ts'

/** What a service answered: a message, or an error without one. */
export interface UnaryAnswer {
  /** Undefined if the call succeeded. */
  readonly status: WireStatus | undefined
  /** Undefined with an error. */
  readonly message: Buffer | undefined
  readonly headers: WireMetadata
  readonly trailers: WireMetadata
}

/** Reads an answer. Throws the ApiError of one that is none. */
export function readAnswer({ head, trailers = head, body }: GatheredAnswer, service: Service): UnaryAnswer {
  if (!isGrpcType(head.headers['content-type'])) throw foreignAnswer(service, Number(head.headers[':status']))
  const status = trailers.headers['grpc-status']
  if (status === undefined) throw unrelayable(service, 'its end without a status')
  const headers = trailers === head ? {} : metadataOf(service, head.raw)
  const metadata = { headers, trailers: metadataOf(service, trailers.raw) }
  if (status === '0') return { ...metadata, status: undefined, message: onlyMessage(body, service) }
  const code = CODES[codeName(Number(status))].number || CODES.UNKNOWN.number
  const message = messageOfStatus(trailers.headers['grpc-message'])
  const details = detailsOf(trailers.headers['grpc-status-details-bin'])
  return { ...metadata, status: { code, message, details }, message: undefined }
}

function onlyMessage(body: Buffer, service: Service): Buffer {
  const isOne = body.length >= PREFIX && body.readUInt32BE(1) === body.length - PREFIX
  if (!isOne) throw unrelayable(service, 'its answer, which is not one message')
  if (body[0] !== 0) throw unrelayable(service, 'its message, which is compressed although nobody asked for it')
  return body.subarray(PREFIX)
}
