import { describe, expect, it } from 'vitest'
import { readAll, readRequest } from './judge.ts'

const post = (lines: readonly string[], rest: string) => `${['POST /a HTTP/1.1', 'host: x', ...lines].join('\r\n')}\r\n\r\n${rest}`
const GET = 'GET /b HTTP/1.1\r\nhost: x\r\n\r\n'

describe('a strict reader', () => {
  it.each([
    ['a length', post(['content-length: 2'], `ab${GET}`), 'ab'],
    ['chunks', post(['Transfer-Encoding: Chunked'], `1;x=y\r\na\r\n1\r\nb\r\n0\r\nx-trailer: y\r\n\r\n${GET}`), 'ab'],
    ['no body', post([], GET), ''],
  ])('finds the next request behind %s', (_, bytes, body) => {
    const { requests, last } = readAll(bytes)
    expect(requests.map(({ head, body }) => [head.target, body])).toEqual([
      ['/a', body],
      ['/b', ''],
    ])
    expect(last).toBeUndefined()
  })

  it.each([
    ['a head that is not whole', 'POST /a HTTP/1.1\r\nhost: x\r\n', ''],
    ['a length that is not reached', post(['content-length: 9'], 'ab'), 'ab'],
    ['chunks without an end', post(['transfer-encoding: chunked'], '2\r\nab\r\n'), 'ab'],
  ])('waits for more of %s', (_, bytes, body) => {
    expect(readRequest(bytes)).toMatchObject({ kind: 'waits', body })
  })

  it.each([
    ['two framings', post(['content-length: 2', 'transfer-encoding: chunked'], '0\r\n\r\n')],
    ['two lengths', post(['content-length: 2', 'content-length: 2'], 'ab')],
    ['a length with a sign', post(['content-length: +2'], 'ab')],
    ['a coding that is not only chunked', post(['transfer-encoding: identity, chunked'], '0\r\n\r\n')],
    ['a chunk size with a space', post(['transfer-encoding: chunked'], '2 \r\nab\r\n')],
    ['a chunk that is longer than it says', post(['transfer-encoding: chunked'], '1\r\nab\r\n')],
    ['a bare line feed', 'GET /b HTTP/1.1\nhost: x\n\n'],
    ['a bare line feed in a trailer', post(['transfer-encoding: chunked'], '0\r\nx: y\n\n')],
    ['a fold', post(['x: a\r\n b'], '')],
    ['a NUL', post(['x: \x00'], '')],
    ['no host', 'GET /b HTTP/1.1\r\n\r\n'],
  ])('takes %s for odd', (_, bytes) => {
    expect(readRequest(bytes)).toMatchObject({ kind: 'odd' })
  })
})
