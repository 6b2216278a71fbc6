/** How the journal answers a request. */
export interface Behaviour {
  /** It answers after the head, before the body has arrived, or after the whole body. */
  readonly at: 'head' | 'body'
  /** The bytes of the answer; `id` is that of the request. */
  readonly says: (id: string) => string
  /**
   * The state of the connection afterwards. `broken`: it carried more or less than one well-framed answer, so it must not be used again.
   */
  readonly leaves: 'kept' | 'closed' | 'broken' | 'tunnel'
}

/** An answer that repeats the id in v2's form, in v1's form and in a header. */
function answer(status: string, id: string, lines: readonly string[] = []): string {
  const row = { uid: '0'.repeat(40), id: '0'.repeat(40), name: id }
  const body = JSON.stringify(
    status.startsWith('2') ? { ...row, groups: [row], items: [row], nextPageToken: '' } : { code: 16, message: id, details: [] },
  )
  const all = [`HTTP/1.1 ${status}`, 'content-type: application/json', `x-echo: ${id}`, `content-length: ${body.length}`, ...lines]
  return `${all.join('\r\n')}\r\n\r\n${body}`
}

/** An answer without a request. */
const staged = (id: string) => answer('200 OK', `staged-${id}`)
/** An answer that is framed by these lines, with these bytes after its head. */
const framed = (id: string, lines: readonly string[], rest: string) =>
  `${['HTTP/1.1 200 OK', 'content-type: application/json', `x-echo: ${id}`, ...lines].join('\r\n')}\r\n\r\n${rest}`

const whole = (says: Behaviour['says']): Behaviour => ({ at: 'body', says, leaves: 'kept' })
const early = (says: Behaviour['says']): Behaviour => ({ at: 'head', says, leaves: 'kept' })
const broken = (says: Behaviour['says']): Behaviour => ({ at: 'body', says, leaves: 'broken' })

/** By the name in the credential. */
export const BEHAVIOURS: Readonly<Record<string, Behaviour>> = {
  ok: whole((id) => answer('200 OK', id)),
  hinted: whole((id) => `HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n${answer('200 OK', id)}`),
  chunked: whole((id) => framed(id, ['transfer-encoding: chunked'], `b\r\n{"groups":[\r\n2\r\n]}\r\n0\r\n\r\n`)),
  early200: early((id) => answer('200 OK', id)),
  early401: early((id) => answer('401 Unauthorized', id)),
  early404: early((id) => answer('404 Not Found', id)),
  early417: early((id) => answer('417 Expectation Failed', id)),
  close401: { at: 'head', says: (id) => answer('401 Unauthorized', id, ['connection: close']), leaves: 'closed' },
  close200: { at: 'body', says: (id) => framed(id, ['connection: close'], '{}'), leaves: 'closed' },
  switch: {
    at: 'head',
    says: (id) => `HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\nx-echo: ${id}\r\n\r\n`,
    leaves: 'tunnel',
  },
  twice: broken((id) => answer('200 OK', id) + staged(id)),
  spill: broken((id) => framed(id, ['content-length: 2'], `{}${staged(id)}`)),
  spillchunks: broken((id) => framed(id, ['transfer-encoding: chunked'], `2\r\n{}\r\n0\r\n\r\n${staged(id)}`)),
  nobody: broken((id) => `HTTP/1.1 204 No Content\r\nx-echo: ${id}\r\n\r\n${staged(id)}`),
  unchanged: broken((id) => `HTTP/1.1 304 Not Modified\r\nx-echo: ${id}\r\n\r\n${staged(id)}`),
  lengths: broken((id) => framed(id, ['content-length: 2', `content-length: ${staged(id).length + 2}`], `{}${staged(id)}`)),
  both: broken((id) => framed(id, ['content-length: 5', 'transfer-encoding: chunked'], `0\r\n\r\n${staged(id)}`)),
  coded: broken((id) => framed(id, ['transfer-encoding: xchunked', 'content-length: 2'], `{}${staged(id)}`)),
  folded: broken((id) => framed(id, ['x-fold: a\r\n content-length: 0', 'content-length: 2'], `{}${staged(id)}`)),
  unasked: broken((id) => `HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n${staged(id)}`),
  cut: { at: 'body', says: (id) => framed(id, ['content-length: 1000'], '{"groups":['), leaves: 'closed' },
}
