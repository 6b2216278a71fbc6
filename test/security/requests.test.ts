import net, { type AddressInfo } from 'node:net'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { bearer, type Stage, startStage, type TestProxy } from '../stage/stage.ts'
import { type Handler, rawExchange, startUpstream, type Upstream } from '../stage/upstream.ts'

describe('headers', () => {
  let proxy: Stage<null, Handler>

  beforeAll(async () => {
    proxy = await startStage({
      v1: null,
      v2: (_, response) => {
        response.setHeader('x-internal', 'secret')
        response.end('{"groups":[]}')
      },
    })
  })

  beforeEach(() => {
    proxy.v2.seen.length = 0
  })

  it.each(['a b', 'a\tb', 'é', '', 'x'.repeat(129)])('replaces a request id that could harm a log: %j', async (id) => {
    const answer = await rawExchange(
      proxy.url,
      `GET /iam/v1/groups HTTP/1.1\r\nhost: x\r\nconnection: close\r\nx-request-id: ${id}\r\n\r\n`,
    )
    expect(answer).toMatch(/\r\nx-request-id: [\w-]{12}-\d+\r\n/)
    expect(proxy.v2.seen[0]?.headers['x-request-id']).toMatch(/^[\w-]{12}-\d+$/)
  })

  it('lets no value add a header of its own', async () => {
    const answer = await fetch(`${proxy.url}/iam/v1/groups?name=a%0d%0aX-Evil:%201`)
    expect(answer.headers.has('x-evil')).toBe(false)
    expect(proxy.v2.seen[0]?.headers).not.toHaveProperty('x-evil')
    expect(proxy.v2.seen[0]?.url).toBe('/iam/v2/groups?name=a%0D%0AX-Evil%3A%201&page_size=200')
  })

  it('gives a translated call only the headers that concern v2', async () => {
    await fetch(`${proxy.url}/iam/v1/groups`, {
      headers: {
        authorization: 'Bearer t',
        cookie: 'session=1',
        'x-forwarded-for': '10.0.0.1',
        'x-http-method-override': 'DELETE',
        traceparent: '00-a-b-01',
        'user-agent': 'test/1',
      },
    })
    const { host } = new URL(proxy.v2.url)
    expect(proxy.v2.seen[0]?.headers).toEqual({
      accept: 'application/json',
      authorization: 'Bearer t',
      'cdn-loop': expect.stringMatching(/^crosswalk-[\w-]{12}$/),
      connection: 'keep-alive',
      host,
      traceparent: '00-a-b-01',
      'user-agent': 'test/1',
      'x-request-id': expect.any(String),
    })
  })

  it('drops the headers of v2 from a translated answer', async () => {
    expect((await fetch(`${proxy.url}/iam/v1/groups`)).headers.has('x-internal')).toBe(false)
  })

  it('refuses two host headers', async () => {
    const seen = proxy.v2.seen.length
    for (const path of ['/iam/v1/groups', '/iam/v2/groups']) {
      const answer = await rawExchange(proxy.url, `GET ${path} HTTP/1.1\r\nhost: x\r\nHost: y\r\nconnection: close\r\n\r\n`)
      expect(answer).toMatch(/^HTTP\/1\.1 400 .*the request has two host headers/s)
    }
    expect(proxy.v2.seen).toHaveLength(seen)
  })
})

describe('sharing', () => {
  const REPO = `${'a'.repeat(40)}/${'b'.repeat(16)}`
  let proxy: Stage<null, Handler>
  /** Answers that wait for `release`, so that requests overlap. */
  let held: (() => void)[] = []
  let look = () => {}

  const hold = (answer: () => void) => {
    held.push(answer)
    look()
  }

  beforeAll(async () => {
    proxy = await startStage({
      v1: null,
      v2: (request, response) => {
        const caller = request.headers.authorization
        const body = request.url?.endsWith('/readme')
          ? { uid: REPO, content: `readme for ${caller}` }
          : { repos: [{ uid: REPO, name: 'r', updateTime: '2026-01-01T00:00:00.000Z' }], groups: [{ uid: 'a'.repeat(40), name: caller }] }
        const answer = () => void response.end(JSON.stringify(body))
        if (request.url?.startsWith('/iam/v2/groups') && request.method === 'GET') hold(answer)
        else answer()
      },
      proxy: { 'keep.ttlMs': 60_000 },
    })
  })

  const get = async (path: string, token: string) =>
    (await fetch(proxy.url + path, { headers: bearer(token) })).json() as Promise<{ items: { name: string; readme: string }[] }>

  /** Resolves when `count` answers wait. */
  const waiting = (count: number) =>
    new Promise<void>((resolve) => {
      look = () => {
        if (held.length >= count) resolve()
      }
      look()
    })

  const release = () => {
    for (const answer of held) answer()
    held = []
  }

  it('shows a cached readme only to the caller who read it', async () => {
    const path = '/registry/v1/repos?name=r'
    const answers = [await get(path, 'alice'), await get(path, 'alice'), await get(path, 'bob')]
    expect(answers.map(({ items }) => items[0]?.readme)).toEqual([
      'readme for Bearer alice',
      'readme for Bearer alice',
      'readme for Bearer bob',
    ])
    expect(proxy.v2.seen.filter(({ url }) => url.endsWith('/readme'))).toHaveLength(2)
  })

  it('gives two callers with the same read their own answers', async () => {
    const answers = Promise.all([get('/iam/v1/groups', 'alice'), get('/iam/v1/groups', 'bob')])
    await waiting(2)
    release()
    expect((await answers).map(({ items }) => items[0]?.name)).toEqual(['Bearer alice', 'Bearer bob'])
  })

  it('lets a caller read anew after a write, despite an older read in flight', async () => {
    const before = get('/iam/v1/groups', 'alice')
    await waiting(1)
    await fetch(`${proxy.url}/iam/v1/groups/${'a'.repeat(40)}`, { method: 'POST', body: '{"name":"x"}', headers: bearer('alice') })
    const after = get('/iam/v1/groups', 'alice')
    await waiting(2)
    release()
    await Promise.all([before, after])
  })
})

describe('smuggling', () => {
  let v2: Upstream
  let proxy: TestProxy

  beforeAll(async () => {
    v2 = await startUpstream((_, response) => void response.end('{"groups":[]}'))
    proxy = await startStage({ v1: v2.url, v2: v2.url })
  })

  beforeEach(() => {
    v2.seen.length = 0
  })

  const HIDDEN = 'GET /hidden HTTP/1.1\r\nhost: x\r\n\r\n'
  /** One path for each carrier: translated, passed to v1, passed to v2. */
  const PATHS = ['/iam/v1/groups', '/registry/v1/vuln_reports', '/iam/v2/groups']

  describe.each(PATHS)('%s', (path) => {
    const hiddenSeen = () => v2.seen.some(({ url }) => url.includes('hidden'))

    it.each([
      ['a length and chunks', `content-length: ${HIDDEN.length + 5}\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${HIDDEN}`],
      ['two lengths', `content-length: 0\r\ncontent-length: ${HIDDEN.length}\r\n\r\n${HIDDEN}`],
      ['an odd transfer coding', `transfer-encoding: xchunked\r\n\r\n0\r\n\r\n${HIDDEN}`],
      ['a space before the colon', `content-length : ${HIDDEN.length}\r\n\r\n${HIDDEN}`],
      ['a folded header', `x: 1\r\n content-length: 0\r\n\r\n${HIDDEN}`],
    ])('refuses %s in v1’s form', async (_, rest) => {
      const answer = await rawExchange(proxy.url, `POST ${path} HTTP/1.1\r\nhost: x\r\n${rest}`)
      expect(answer).toMatch(
        /^HTTP\/1\.1 400 Bad Request\r\n.*\{"code":3,"message":"the request is not well-formed HTTP","details":\[\]\}$/s,
      )
      expect(hiddenSeen()).toBe(false)
    })

    it.each(['GET', 'POST', 'DELETE'])('frames the body of a %s even if Connection names its length', async (method) => {
      const head = `${method} ${path} HTTP/1.1\r\nhost: x\r\nconnection: close, content-length, transfer-encoding\r\n`
      await rawExchange(proxy.url, `${head}content-length: ${HIDDEN.length}\r\n\r\n${HIDDEN}`)
      await rawExchange(proxy.url, `${head}transfer-encoding: chunked\r\n\r\n${HIDDEN.length.toString(16)}\r\n${HIDDEN}\r\n0\r\n\r\n`)
      await fetch(`${proxy.url}/iam/v2/roles`)
      expect(hiddenSeen()).toBe(false)
    })
  })

  it('refuses headers that are too large in v1’s form', async () => {
    const answer = await rawExchange(proxy.url, `GET /iam/v1/groups HTTP/1.1\r\nhost: x\r\nx-large: ${'x'.repeat(70_000)}\r\n\r\n`)
    expect(answer).toMatch(
      /^HTTP\/1\.1 431 .*"message":"the request line and headers are larger than limits\.headerBytes \(65536\) allows","details":\[\]\}$/s,
    )
  })

  it('lets no answer of v2 become a second answer', async () => {
    const server = net.createServer((socket) => {
      socket.once('data', () =>
        socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nsecond'),
      )
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const other = await startStage({ v1: null, v2: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
    for (const path of ['/iam/v2/groups', '/iam/v1/groups']) {
      const answer = await rawExchange(other.url, `GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
      expect(answer).not.toContain('second')
    }
    await other.close()
    await new Promise((resolve) => server.close(resolve))
  })
})

describe('traversal', () => {
  let translated: Stage<null, Handler>
  let passing: TestProxy

  beforeAll(async () => {
    translated = await startStage({ v1: null, v2: (_, response) => void response.end('{"groups":[]}') })
    passing = await startStage({ v1: translated.v2.url, v2: translated.v2.url })
  })

  beforeEach(() => {
    translated.v2.seen.length = 0
  })

  const send = (proxy: TestProxy, method: string, path: string) =>
    rawExchange(proxy.url, `${method} ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)

  const UIDS = ['..', 'a/../b', 'a%2F..%2Fb', '%2e%2e', 'a/./b', 'a//b', 'a%00b', 'a%0d%0ab', 'a%0A', '%2e%2e%2froles']

  it.each(UIDS)('refuses a uid that a server could read as another path: %s', async (uid) => {
    expect(await send(translated, 'DELETE', `/iam/v1/groups/${uid}`)).toMatch(/^HTTP\/1\.1 (400|404) .*"details":/s)
    expect(translated.v2.seen).toEqual([])
  })

  it('encodes any other text as a uid', async () => {
    await send(translated, 'DELETE', '/iam/v1/groups/a%3Fb%23c%25%5Cd%252e')
    expect(translated.v2.seen.map(({ url }) => url)).toEqual(['/iam/v2/groups/a%3Fb%23c%25%5Cd%252e'])
  })

  it.each(['/registry/v1/vuln_reports/../../v2/x', '/registry/v1/%2e%2e/v2/x', '/registry/v1/vuln_reports\\..\\x', '/events/v1/./x'])(
    'keeps such a path from v1: %s',
    async (path) => {
      expect(await send(passing, 'GET', path)).toMatch(/^HTTP\/1\.1 400 .*"code":3,"message":"Invalid argument: path: must not contain/s)
      expect(translated.v2.seen).toEqual([])
    },
  )

  it.each(['http://other.example/iam/v1/groups', 'http://169.254.169.254/', '*'])(
    'lets no request target name a host: %s',
    async (target) => {
      expect(await send(translated, 'OPTIONS', target)).toMatch(/^HTTP\/1\.1 400 /)
      expect(translated.v2.seen).toEqual([])
    },
  )

  it('lets no Host header choose the upstream', async () => {
    await rawExchange(passing.url, 'GET /iam/v2/groups HTTP/1.1\r\nhost: other.example\r\nconnection: close\r\n\r\n')
    expect(translated.v2.seen[0]?.headers.host).toBe(new URL(translated.v2.url).host)
  })
})
