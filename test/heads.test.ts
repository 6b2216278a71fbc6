import { once } from 'node:events'
import http, { type ServerResponse } from 'node:http'
import http2 from 'node:http2'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { CONNECTION_SPECIFIC, grouped, type Head, relayable, relayableGroups, SINGLE_VALUED } from '../src/heads.ts'
import { endsHere, endToEnd, endToEndRaw, writeHead } from '../src/serve/heads.ts'

describe('head', () => {
  const head = (part: Partial<Head> = {}): Head => ({ status: 200, reason: 'OK', headers: ['x-a', '1'], ...part })

  describe.each([1, 2])('a head for a client that speaks HTTP/%d', (version) => {
    it.each([0, 99, 100, 101, 199, 600, 999, Number.NaN])('is refused with the status %d', (status) => {
      expect(relayable(version, head({ status }))).toEqual({ problem: `its status ${status}` })
    })

    it.each([200, 204, 304, 418, 599])('may have the status %d', (status) => {
      expect(relayable(version, head({ status }))).toEqual(head({ status }))
    })

    it('loses a reason that cannot be written', () => {
      for (const reason of ['a\x01', 'a\rb', '€']) expect(relayable(version, head({ reason }))).toEqual(head({ reason: '' }))
      expect(relayable(version, head({ reason: 'Gr\xfcn\t!' }))).toEqual(head({ reason: 'Gr\xfcn\t!' }))
    })

    it('has writable names and values, and a problem quotes no value', () => {
      expect(relayable(version, head({ headers: ['x a', '1'] }))).toEqual({ problem: 'the name of a header' })
      expect(relayable(version, head({ headers: ['x-a', 'secret\x00'] }))).toEqual({ problem: 'its header x-a' })
      expect(relayable(version, head({ headers: ['x-a', 'gr\xfcn'] }))).toMatchObject({ status: 200 })
    })
  })

  describe('repeated headers', () => {
    const headers = ['Content-Type', 'a', 'content-type', 'b', 'Set-Cookie', 'a=1', 'set-cookie', 'b=2']

    it('stay as they are over HTTP/1.1', () => {
      expect(relayable(1, head({ headers }))).toMatchObject({ headers })
    })

    it('occur once over HTTP/2 if they are single-valued', () => {
      expect(relayable(2, head({ headers }))).toMatchObject({ headers: ['Content-Type', 'a', 'Set-Cookie', 'a=1', 'set-cookie', 'b=2'] })
    })
  })

  /** Returns those of these names whose repetition the HTTP/2 of this Node refuses. */
  async function refusedTwice(names: readonly string[]): Promise<string[]> {
    const refused: string[] = []
    const server = http2.createServer()
    server.on('stream', (stream) => {
      for (const name of names) {
        try {
          stream.respond({ ':status': 200, [name]: ['trailers', 'b'] })
          // The name was accepted: the next one needs a stream of its own.
          stream.end(name)
          return
        } catch {
          if (!refused.includes(name)) refused.push(name)
        }
      }
      stream.respond({ ':status': 200 })
      stream.end()
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const client = http2.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    const request = client.request({})
    request.resume()
    await once(request, 'close')
    client.close()
    server.close()
    return refused
  }

  it('agrees with the tables of the Node that runs', async () => {
    const names = [...SINGLE_VALUED, ...CONNECTION_SPECIFIC]
    expect(await refusedTwice(names)).toEqual(names)
    for (const name of ['set-cookie', 'vary', 'link', 'www-authenticate', 'x-frame-options', 'server']) {
      expect(await refusedTwice([name])).toEqual([])
    }
  })

  it('returns what Node still refuses, and does not throw', () => {
    const response = { writeHead: () => {} } as unknown as ServerResponse
    expect(writeHead(response, head())).toBeUndefined()
    const refusing = new http.ServerResponse(new http.IncomingMessage(undefined as never))
    refusing.writeHead = () => {
      throw Object.assign(new Error('no'), { code: 'ERR_ODD' })
    }
    expect(writeHead(refusing, head())).toEqual({ problem: 'ERR_ODD' })
  })

  it.each([
    [200, ['a', '1', 'set-cookie', 'x', 'set-cookie', 'y', '__proto__', 'z']],
    [200, ['etag', '"1"', 'etag', '"2"', 'connection', 'x-a', 'te', 'gzip', 'x-a', '']],
    [200, ['x-a', '1', 'bad name', '2']],
    [200, ['x-a', '1', 'x-a', 'b\u0001']],
    [199, ['x-a', '1']],
    [600, []],
    [404, []],
  ])('relays grouped headers as those of a list (%i %j)', (status, headers) => {
    const relayed = relayable(2, { status, reason: '', headers })
    const groups = relayableGroups(status, grouped(headers))
    expect(groups).toEqual('problem' in relayed ? relayed : { headers: grouped(relayed.headers) })
  })

  it('leaves out a header without a value', () => {
    expect(relayableGroups(200, { a: undefined, b: '1', c: [] })).toEqual({ headers: { b: '1' } })
  })
})

describe('headers that end at a hop', () => {
  it('are the fixed ones and those that Connection names', () => {
    const ends = endsHere('close, X-Mine')
    const fixed = ['connection', 'http2-settings', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade']
    const proxies = ['proxy-authenticate', 'proxy-authorization', 'proxy-connection']
    expect([...fixed, ...proxies, 'x-mine', 'x-other'].filter((name) => !ends(name))).toEqual(['x-other'])
  })

  it('never include the framing of a message, whatever Connection names', () => {
    const ends = endsHere('content-length, transfer-encoding, host')
    expect([ends('content-length'), ends('host')]).toEqual([false, false])
  })

  it('are removed from a header object', () => {
    expect(endToEnd({ connection: 'x-a', 'x-a': '1', 'x-b': '2', 'keep-alive': '3' })).toEqual({ 'x-b': '2' })
    expect(endToEnd({ connection: ['close', 'X-A'], 'x-a': '1', 'x-b': ['2', '3'] })).toEqual({ 'x-b': ['2', '3'] })
  })

  it('are removed from a raw list, which keeps order, case and repetitions', () => {
    const raw = ['B', '1', 'Connection', 'close', 'A', '2', 'connection', 'X-Gone', 'b', '3', 'x-gone', '4']
    expect(endToEndRaw(raw)).toEqual(['B', '1', 'A', '2', 'b', '3'])
  })
})
