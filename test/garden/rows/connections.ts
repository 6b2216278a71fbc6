import { CHUNKED, chunk, LAST_CHUNK, lengthOf, type Make, type Shape } from './make.ts'

/** Headers for framing, for the caller, or added by a proxy. The sender of a request must not be able to remove them. */
const NAMED = [
  'transfer-encoding',
  'content-length',
  'host',
  'authorization',
  'x-forwarded-for',
  'x-request-id',
  'via',
  'expect',
  'close, content-length',
]

function body(make: Make, isChunked: boolean, line: string): string {
  const framed = isChunked ? [CHUNKED] : [lengthOf(make.hidden)]
  const lines = make.pick([
    [line, ...framed],
    [...framed, line],
  ])
  return make.head('POST', lines) + (isChunked ? chunk(make.hidden) + LAST_CHUNK : make.hidden)
}

/** `Connection` headers that name headers which must stay. */
export const connectionShapes: readonly Shape[] = [
  ...NAMED.map(
    (name): Shape => ({
      name: `Connection names ${name}`,
      bytes: (make) => body(make, name.includes('transfer'), `connection: ${make.pick(['keep-alive, ', ''])}${name}`),
    }),
  ),
  {
    name: 'Connection names content-length of a GET',
    bytes: (make) => make.head('GET', ['connection: content-length', lengthOf(make.hidden)]) + make.hidden,
  },
  { name: 'Connection names both framings', bytes: (make) => body(make, true, 'connection: content-length, transfer-encoding') },
  { name: 'two Connections', bytes: (make) => body(make, false, 'connection: keep-alive\r\nconnection: content-length') },
  { name: 'Proxy-Connection names content-length', bytes: (make) => body(make, false, 'proxy-connection: content-length') },
  { name: 'Keep-Alive and TE', bytes: (make) => body(make, true, 'keep-alive: timeout=99\r\nte: trailers, chunked') },
]
