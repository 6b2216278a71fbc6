import type { OutgoingHttpHeaders } from 'node:http2'
import { unrelayable } from '../../errors.ts'
import { CONNECTION_SPECIFIC, grouped, relayableHeaders } from '../../heads.ts'
import { endToEnd } from '../../serve/heads.ts'
import type { Service } from '../../serve/upstream/health.ts'
import type { WireCall, WireMetadata } from '../../wire/wire-call.ts'

/** Headers of another protocol or of one connection. The call to the service has its own. */
const OTHERS =
  /^(?::|connect-|grpc-(?:timeout|encoding|accept-encoding|status|message|status-details-bin)$|content-|accept(?:-encoding)?$|date$|expect$|host$|x-grpc-web$|x-user-agent$)/

const isMetadata = (name: string) => !OTHERS.test(name) && !CONNECTION_SPECIFIC.has(name)

/** Milliseconds; gRPC writes a timeout with at most eight digits. */
const LONGEST = 99_999_999

/** Returns the headers of a unary call of ours. The client's metadata goes along. */
export function unaryHeaders({ host, protocol }: URL, { path, headers, timeoutMs }: Pick<WireCall, 'path' | 'headers' | 'timeoutMs'>) {
  return {
    ...Object.fromEntries(Object.entries(endToEnd(headers)).filter(([name]) => isMetadata(name))),
    ':method': 'POST',
    ':path': path,
    ':authority': host,
    ':scheme': protocol.slice(0, -1),
    'content-type': 'application/grpc',
    te: 'trailers',
    ...(timeoutMs !== undefined && { 'grpc-timeout': `${Math.min(Math.max(1, Math.ceil(timeoutMs)), LONGEST)}m` }),
  } as OutgoingHttpHeaders
}

/** Returns the metadata of an answer's headers or trailers. Throws if a client cannot be given them. */
export function metadataOf(service: Service, raw: readonly string[]): WireMetadata {
  const checked = relayableHeaders(
    2,
    raw.filter((_, at) => isMetadata(raw[at - (at % 2)] ?? '')),
  )
  if ('problem' in checked) throw unrelayable(service, checked.problem)
  return grouped(checked.headers)
}

/** Decodes a `grpc-message`. Bytes that are not encoded stay as they are. */
export function messageOfStatus(text: unknown): string {
  if (typeof text !== 'string') return ''
  return text.replace(/(?:%[\da-f]{2})+/gi, (piece) => Buffer.from(piece.replaceAll('%', ''), 'hex').toString())
}

export function isGrpcType(type: string | undefined): boolean {
  return /^application\/grpc(?:[+;]|$)/.test(type ?? '')
}
