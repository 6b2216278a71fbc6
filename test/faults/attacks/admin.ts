import type { Config } from '../../../src/app/config/settings.ts'
import type { Fault } from '../fault.ts'
import { say } from '../say.ts'
import { talk } from '../wire.ts'
import { inWorld, serving, type World } from '../world.ts'

/** Bytes that an attacker sends to the admin port, each text on a connection of its own. */
type Words = (admin: string) => readonly string[]

const TOKENS: Partial<Config> = { 'admin.token': 'changes-modes-and-reads', 'admin.readToken': 'reads-and-nothing-else' }
const READ = ['/modes', '/evidence', '/clients', '/comparisons', '/operations', '/metrics', '/report.json', '/nothing']
const PROBES = ['/healthz', '/readyz']

function request(target: string, headers: Readonly<Record<string, string>>, body = ''): string {
  const all = { ...headers, connection: 'close', ...(body && { 'content-type': 'application/json', 'content-length': `${body.length}` }) }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${target} HTTP/1.1\r\n${lines.join('')}\r\n${body}`
}

const put = (headers: Readonly<Record<string, string>>) => request('PUT /modes', headers, '{"default":"v1"}')
const bearer = (host: string, token: string) => ({ host, authorization: `Bearer ${token}` })

/** Returns the answers, and whether the modes are unchanged. */
async function heard({ proxy }: World, words: Words, settings: Partial<Config>): Promise<string> {
  const { host } = new URL(proxy.adminUrl)
  const said: string[] = []
  for (const bytes of words(host)) said.push(say((await talk(proxy.adminUrl, bytes)).answers[0]).replace(/, .*/, ''))
  const { answers } = await talk(proxy.adminUrl, request('GET /modes', bearer(host, settings['admin.token'] ?? 'none')))
  const isSame = answers[0]?.body.startsWith('{"default":"v2","rules":[],"testers":[],"version":1,') === true
  return `${said.join(' ')}; modes ${isSame ? 'unchanged' : 'changed'}`
}

function attack(name: string, expected: string, words: Words, settings: Partial<Config> = {}): Fault {
  return { name: `admin port: ${name}`, expected, see: () => inWorld(serving(3), settings, (world) => heard(world, words, settings)) }
}

const reads = (headers: Readonly<Record<string, string>>) => READ.map((path) => request(`GET ${path}`, headers))

/** Beginnings of requests that are never continued. */
const HALVES = (host: string) => [
  '',
  'GET /modes HT',
  `PUT /modes HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{`,
]

/** Opens as many connections as possible and holds them until the port has closed them all. */
function heldOpen(): Promise<string> {
  return inWorld(serving(3), {}, async ({ proxy }) => {
    const { host } = new URL(proxy.adminUrl)
    const held = HALVES(host).flatMap((half) => Array.from({ length: 100 }, () => talk(proxy.adminUrl, half)))
    const closed = (await Promise.all(held)).filter((one) => one.closed).length
    const { answers } = await talk(proxy.adminUrl, request('GET /modes', { host }))
    return `${closed} closed; afterwards ${say(answers[0])}`
  })
}

/** Sends a thousand requests in one packet. */
function pipeline(): Promise<string> {
  return inWorld(serving(3), {}, async ({ proxy }) => {
    const { host } = new URL(proxy.adminUrl)
    const { answers, closed } = await talk(proxy.adminUrl, `GET /operations HTTP/1.1\r\nhost: ${host}\r\n\r\n`.repeat(1000), 1000)
    const after = await talk(proxy.adminUrl, request('GET /modes', { host }))
    return `${answers.length < 20 ? 'a few' : 'many'} answers, ${closed ? 'closed' : 'open'}; afterwards ${say(after.answers[0])}`
  })
}

const EVIL = { host: 'evil.example:8081' }
/** The headers of a page whose name was bound to this machine after it was loaded. Its browser sees a single origin. */
const REBOUND = { ...EVIL, origin: 'http://evil.example:8081', 'sec-fetch-site': 'same-origin' }

export const adminAttacks: readonly Fault[] = [
  attack('a page that binds its name to this machine reads', '403/7 403/7 403/7 403/7 403/7 403/7 403/7 403/7; modes unchanged', () =>
    reads(EVIL),
  ),
  attack('it asks whether the proxy lives', '403/7 403/7; modes unchanged', () => PROBES.map((path) => request(`GET ${path}`, REBOUND))),
  attack('it changes the modes', '403/7 403/7; modes unchanged', () => [put(REBOUND), put(EVIL)]),
  attack('names that look like this machine', '403/7 403/7 403/7 403/7 403/7 403/7; modes unchanged', () =>
    ['localhost.evil.example', '127.0.0.1.evil.example:8081', 'evil.example@127.0.0.1', '[::1].evil.example', '', '127.0.0.1:8081:1'].map(
      (host) => put({ host }),
    ),
  ),
  attack('a page of another origin', '403/7 403/7 403/7 403/7 403/7; modes unchanged', (host) => [
    put({ host, origin: 'http://evil.example' }),
    put({ host, origin: 'null' }),
    put({ host, origin: 'http://127.0.0.1:3000' }),
    put({ host, origin: `http://evil.example/${host}` }),
    request('GET /evidence', { host, origin: 'http://evil.example' }),
  ]),
  attack('a page of another site, or of this one under another port', '403/7 403/7 403/7 403/7; modes unchanged', (host) => [
    put({ host, 'sec-fetch-site': 'cross-site' }),
    put({ host, 'sec-fetch-site': 'same-site' }),
    request('GET /clients', { host, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }),
    request('GET /report', { host, 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }),
  ]),
  attack('a target that names a host', '400/3 400/3 400/3; modes unchanged', (host) => [
    request('GET http://evil.example:8081/modes', { host }),
    request(`GET http://${host}/modes`, EVIL),
    request('PUT http://evil.example/modes', { host, origin: 'http://evil.example' }, '{"default":"v1"}'),
  ]),
  attack('a body larger than any modes are', '400/3; modes unchanged', (host) => [
    request('PUT /modes', { host }, JSON.stringify({ testers: ['x'.repeat(300_000)] })),
  ]),
  { name: 'admin port: connections held open', expected: '300 closed; afterwards 200', see: heldOpen, full: true },
  { name: 'admin port: a thousand requests in one packet', expected: 'a few answers, closed; afterwards 200', see: pipeline },
  attack('no token, as probes ask', '200 200; modes unchanged', (host) => PROBES.map((path) => request(`GET ${path}`, { host })), TOKENS),
  attack(
    'no token',
    '401/16 401/16 401/16 401/16 401/16 401/16 401/16 401/16 401/16; modes unchanged',
    (host) => [...reads({ host }), put({ host })],
    TOKENS,
  ),
  attack(
    'a wrong token',
    '401/16 401/16 401/16 401/16 401/16 401/16 401/16; modes unchanged',
    (host) => [
      put(bearer(host, 'changes-modes-and-read')),
      put(bearer(host, 'changes-modes-and-reads2')),
      put({ host, authorization: 'Basic changes-modes-and-reads' }),
      put({ host, authorization: 'changes-modes-and-reads' }),
      put({ host, cookie: 'token=changes-modes-and-reads' }),
      request('PUT /modes?token=changes-modes-and-reads', { host }, '{"default":"v1"}'),
      request('GET /modes?access_token=reads-and-nothing-else', { host }),
    ],
    TOKENS,
  ),
  attack(
    'the token that reads changes the modes',
    '200 403/7 403/7; modes unchanged',
    (host) => [
      request('GET /modes', bearer(host, 'reads-and-nothing-else')),
      put(bearer(host, 'reads-and-nothing-else')),
      request('POST /modes', bearer(host, 'reads-and-nothing-else'), '{"default":"v1"}'),
    ],
    TOKENS,
  ),
  attack('the right token from a page of somebody else', '403/7 403/7; modes unchanged', (host) => [
    put({ ...bearer(host, 'changes-modes-and-reads'), origin: 'http://evil.example' }),
    put({ ...bearer('evil.example', 'changes-modes-and-reads') }),
  ]),
]
