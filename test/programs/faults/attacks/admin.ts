import { Agent, request } from 'undici'
import type { Config } from '../../../../src/app/config/settings.ts'
import { ALL_V2 } from '../../../../src/migrate/modes/rules.ts'
import { until } from '../../../stage/clocks.ts'
import { bearer, startProxy, type TestProxy } from '../../../stage/stage.ts'
import { ask2, askBoth, type Fault, faultIn, say, type World } from '../fault.ts'
import { metric } from '../process/child.ts'
import { talk } from '../wire.ts'

/** Beginnings of requests that are never continued. */
const HALVES = (host: string) => [
  '',
  'GET /modes HT',
  `PUT /modes HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{`,
]

/** Uses the admin port, and tells how it answers the next client. */
const ofAdmin = (name: string, expected: string, see: (adminUrl: string, host: string) => Promise<string>) =>
  faultIn({}, `admin port: ${name}`, expected, async ({ proxy: { adminUrl } }) => {
    const { host } = new URL(adminUrl)
    const said = await see(adminUrl, host)
    const { answers } = await talk(adminUrl, `GET /modes HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`)
    return `${said}; afterwards ${say(answers[0])}`
  })

export const adminAttacks: readonly Fault[] = [
  {
    ...ofAdmin('connections held open', '300 closed; afterwards 200', async (adminUrl, host) => {
      const held = HALVES(host).flatMap((half) => Array.from({ length: 100 }, () => talk(adminUrl, half)))
      return `${(await Promise.all(held)).filter(({ closed }) => closed).length} closed`
    }),
    full: true,
  },
  ofAdmin('a thousand requests in one packet', 'a few answers, closed; afterwards 200', async (adminUrl, host) => {
    const { answers, closed } = await talk(adminUrl, `GET /operations HTTP/1.1\r\nhost: ${host}\r\n\r\n`.repeat(1000), 1000)
    return `${answers.length < 20 ? 'a few' : 'many'} answers, ${closed ? 'closed' : 'open'}`
  }),
]

const TOKEN = 'the-token-that-changes'
const SETTINGS: Partial<Config> = {
  'admin.token': TOKEN,
  'admin.readToken': 'the-token-that-reads',
  'admin.tokens': [{ name: 'alice', token: 'the-token-of-alice' }],
}
const MODES = '{"default":"v1"}'
const GUESSES = 20_000
const AT_ONCE = 50

/** Values of the header that no client library would send, as bytes. */
const ODD = [
  `Bearer ${TOKEN}\u00e9`,
  `Bearer \u00ff\u00fe${TOKEN}`,
  `Bearer ${encodeURIComponent(`${TOKEN} `)}`,
  `Bearer ${Buffer.from(TOKEN, 'utf16le').toString('latin1').replaceAll('\0', '\u0080')}`,
  `Bearer ${Buffer.from(TOKEN).toString('base64')}`,
  `Basic ${Buffer.from(`admin:${TOKEN}`).toString('base64')}`,
  `Bearer ${TOKEN}\t${TOKEN}`,
  `Bearer ${TOKEN.toUpperCase()}`,
  `Bearer ${'x'.repeat(15_000)}`,
  `Bearer ${TOKEN}\0`,
  `Bearer x\r\nAuthorization: Bearer ${TOKEN}`,
  'Bearer',
]

const guessing = (host: string, value: string) =>
  `PUT /modes HTTP/1.1\r\nhost: ${host}\r\nauthorization: ${value}\r\ncontent-type: application/json\r\ncontent-length: ${MODES.length}\r\nconnection: close\r\n\r\n${MODES}`

async function guess({ proxy }: World): Promise<string> {
  const { adminUrl } = proxy
  const dispatcher = new Agent({ connections: AT_ONCE })
  const send = async (token: string, method: 'GET' | 'PUT') => {
    const headers = { ...bearer(token), 'content-type': 'application/json' }
    const answer = await request(`${adminUrl}/modes`, { method, headers, dispatcher, ...(method === 'PUT' && { body: MODES }) })
    await answer.body.dump()
    return answer.statusCode
  }
  const ends = new Set<number>()
  const right = new Set<number>()
  const some = async (from: number, many: number) => {
    for (let nth = from; nth < from + many; nth += AT_ONCE) {
      const wrong = Array.from({ length: AT_ONCE - 1 }, (_, at) => send(`${TOKEN.slice(0, -1)}-${nth + at}`, 'PUT'))
      right.add(await send(TOKEN, 'GET'))
      for (const status of await Promise.all(wrong)) ends.add(status)
    }
  }
  await some(0, GUESSES / 10)
  const before = process.memoryUsage().rss
  await some(GUESSES / 10, GUESSES)
  const grown = process.memoryUsage().rss - before
  const odd = await Promise.all(ODD.map((value) => talk(adminUrl, guessing(new URL(adminUrl).host, value))))
  const isRefused = odd.every(({ answers }) => [400, 401].includes(answers[0]?.status ?? 0))
  const ofPage = await fetch(`${adminUrl}/modes`, { headers: { ...bearer(TOKEN), origin: 'http://evil.example' } })
  const state = await request(`${adminUrl}/modes`, { headers: bearer(TOKEN), dispatcher })
  const { version } = (await state.body.json()) as { version: number }
  await dispatcher.close()
  const told = proxy.log.filter(({ what }) => what === 'refused')
  const isSilent = !JSON.stringify(proxy.log).includes(TOKEN.slice(0, -1))
  return [
    `guesses ${[...ends].join()}`,
    `odd ones ${isRefused ? 'refused' : 'not refused'}`,
    `the right one of another page ${ofPage.status}`,
    `the right token meanwhile ${[...right].join()}`,
    `modes at version ${version}`,
    `${told.length <= 60 ? 'a few' : told.length} log lines, ${isSilent ? 'no token in them' : 'with tokens'}`,
    `memory ${grown < 64 * 2 ** 20 ? 'bounded' : `grew by ${grown}`}`,
  ].join('; ')
}

export const tokenGuesses: readonly Fault[] = [
  {
    ...faultIn(
      SETTINGS,
      `admin port: ${GUESSES} wrong tokens, near ones, huge ones and odd bytes`,
      'guesses 401; odd ones refused; the right one of another page 403; the right token meanwhile 200; modes at version 1; a few log lines, no token in them; memory bounded',
      guess,
    ),
    full: true,
  },
]

/** Method and target. */
type Line = readonly [method: string, target: string]

const ODD_TARGETS = [
  '/registry/v1/vuln_reports/a%2fb%5C;x=1!$&\'()*+@:=~//c%25?x="<>|\\^`{}[]&y=%41+%zz',
  '/libraries/v1/x:y//?',
  '/x\\y//..;/%2e/"<>|\\^`{}[]?a=/../%zz',
  '//iam/v1/groups',
  '//169.254.169.254/latest',
  '/\\169.254.169.254/latest',
  '/@169.254.169.254/latest',
]

const OFFER = 'connection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\nsec-websocket-version: 13'

/** Uses a proxy whose v2 lives below a path. */
async function below<T>({ upstream }: World, use: (proxy: TestProxy) => Promise<T>): Promise<T> {
  const proxy = await startProxy({ 'upstream.v2': `${upstream.url}/tenant-a` })
  return use(proxy).finally(() => proxy.close())
}

async function asGrpc({ url }: TestProxy, lines: readonly Line[]): Promise<string> {
  const said: string[] = []
  for (const [method, target] of lines) {
    const answer = await ask2(url, { method, target, headers: { 'content-type': 'application/grpc' }, body: Buffer.alloc(5) })
    const status = answer.headers.get('grpc-status')
    said.push(status === undefined ? say(answer) : `gRPC ${status}`)
  }
  return said.join(', ')
}

export const targetAttacks: readonly Fault[] = [
  faultIn(
    {},
    'a path of REST that calls itself gRPC',
    'gRPC 12, gRPC 3, 400/3; below a path gRPC 3, gRPC 12, 400/3; 0 passed on',
    async (world) => {
      const said = await asGrpc(world.proxy, [
        ['POST', '/iam/v1/groups/abc'],
        ['POST', '/iam/v1/groups#x'],
        ['DELETE', '/iam/v1/groups/abc:purge'],
      ])
      const saidBelow = await below(world, (proxy) =>
        asGrpc(proxy, [
          ['POST', '/../a.B/C'],
          ['POST', '/admin/x'],
          ['GET', '/..%2fadmin'],
        ]),
      )
      return `${said}; below a path ${saidBelow}; ${world.upstream.seen.length} passed on`
    },
  ),
  // Both sides would be asked for a read, more than once. Beside this type, v1 ignores the header.
  faultIn(
    { modes: { ...ALL_V2, default: 'diff-v1' }, 'diff.learnEvery': 1 },
    'a write whose header calls it a read, while both sides are compared',
    '200, 200; 2 writes, 2 of them to v1',
    async ({ upstream, proxy }) => {
      const headers = { ...bearer('t'), 'x-http-method-override': 'GET', 'content-type': 'application/json' }
      const answers = await askBoth(proxy.url, { method: 'POST', target: '/iam/v1/groups', headers, body: Buffer.from('{"name":"x"}') })
      await until(async () => (await metric(proxy, 'crosswalk_comparison_jobs_total{end="done"}')) === 1)
      const writes = upstream.seen.filter(({ method }) => method === 'POST')
      return `${answers.map(say).join(', ')}; ${writes.length} writes, ${writes.filter(({ url }) => url.includes('/v1/')).length} of them to v1`
    },
  ),
  faultIn({}, 'WebSocket handshakes with targets that a request may not have', '400/3, 400/3, 400/3, 400/3; 0 passed on', async (world) => {
    const said: string[] = []
    await below(world, async ({ url }) => {
      for (const target of ['/../admin', 'http://169.254.169.254/', '/iam/v1/groups#x', '/iam/v2/x#y'])
        said.push(say((await talk(url, `GET ${target} HTTP/1.1\r\nhost: x\r\n${OFFER}\r\n\r\n`)).answers[0]))
    })
    return `${said.join(', ')}; ${world.upstream.seen.length} passed on`
  }),
  faultIn({}, 'odd targets that may be passed on', '14 of 14 passed on, none changed', async ({ upstream, proxy }) => {
    for (const target of ODD_TARGETS) await askBoth(proxy.url, { target })
    const others = upstream.seen.filter(({ url }, at) => url !== ODD_TARGETS[Math.floor(at / 2)])
    return `${upstream.seen.length} of ${2 * ODD_TARGETS.length} passed on, ${others.map(({ url }) => url).join(', ') || 'none'} changed`
  }),
]
