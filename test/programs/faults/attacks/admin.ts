import { Agent, request } from 'undici'
import type { Config } from '../../../../src/app/config/settings.ts'
import { ALL_V2 } from '../../../../src/migrate/modes/rules.ts'
import { until } from '../../../stage/clocks.ts'
import { bearer, startProxy, type TestProxy } from '../../../stage/stage.ts'
import { ask2, askBoth, type Fault, fault, inWorld, longFault, say, serving, type World } from '../fault.ts'
import { talk, type WireAnswer } from '../wire.ts'

/** Bytes that an attacker sends to the admin port, each text on a connection of its own. */
type Words = (admin: string) => readonly string[]

const TOKENS: Partial<Config> = { 'admin.token': 'changes-modes-and-reads', 'admin.readToken': 'reads-and-nothing-else' }
const READ = ['/modes', '/evidence', '/clients', '/comparisons', '/operations', '/metrics', '/report.json', '/nothing']
const PROBES = ['/healthz', '/readyz']

function requestOfAdmin(target: string, headers: Readonly<Record<string, string>>, body = ''): string {
  const all = { ...headers, connection: 'close', ...(body && { 'content-type': 'application/json', 'content-length': `${body.length}` }) }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${target} HTTP/1.1\r\n${lines.join('')}\r\n${body}`
}

const put = (headers: Readonly<Record<string, string>>) => requestOfAdmin('PUT /modes', headers, '{"default":"v1"}')
const bearerOfAdmin = (host: string, token: string) => ({ host, authorization: `Bearer ${token}` })

/** Returns the answers, and whether the modes are unchanged. */
async function heard({ proxy }: World, words: Words, settings: Partial<Config>): Promise<string> {
  const { host } = new URL(proxy.adminUrl)
  const said: string[] = []
  for (const bytes of words(host)) said.push(say((await talk(proxy.adminUrl, bytes)).answers[0]).replace(/, .*/, ''))
  const { answers } = await talk(proxy.adminUrl, requestOfAdmin('GET /modes', bearerOfAdmin(host, settings['admin.token'] ?? 'none')))
  const isSame = answers[0]?.body.startsWith('{"default":"v2","rules":[],"testers":[],"version":1,') === true
  return `${said.join(' ')}; modes ${isSame ? 'unchanged' : 'changed'}`
}

function attack(name: string, expected: string, words: Words, settings: Partial<Config> = {}): Fault {
  return fault(`admin port: ${name}`, expected, () => inWorld(serving(3), settings, (world) => heard(world, words, settings)))
}

const reads = (headers: Readonly<Record<string, string>>) => READ.map((path) => requestOfAdmin(`GET ${path}`, headers))

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
    const { answers } = await talk(proxy.adminUrl, requestOfAdmin('GET /modes', { host }))
    return `${closed} closed; afterwards ${say(answers[0])}`
  })
}

/** Sends a thousand requests in one packet. */
function pipeline(): Promise<string> {
  return inWorld(serving(3), {}, async ({ proxy }) => {
    const { host } = new URL(proxy.adminUrl)
    const { answers, closed } = await talk(proxy.adminUrl, `GET /operations HTTP/1.1\r\nhost: ${host}\r\n\r\n`.repeat(1000), 1000)
    const after = await talk(proxy.adminUrl, requestOfAdmin('GET /modes', { host }))
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
  attack('it asks whether the proxy lives', '403/7 403/7; modes unchanged', () =>
    PROBES.map((path) => requestOfAdmin(`GET ${path}`, REBOUND)),
  ),
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
    requestOfAdmin('GET /evidence', { host, origin: 'http://evil.example' }),
  ]),
  attack('a page of another site, or of this one under another port', '403/7 403/7 403/7 403/7; modes unchanged', (host) => [
    put({ host, 'sec-fetch-site': 'cross-site' }),
    put({ host, 'sec-fetch-site': 'same-site' }),
    requestOfAdmin('GET /clients', { host, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }),
    requestOfAdmin('GET /report', { host, 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }),
  ]),
  attack('a target that names a host', '400/3 400/3 400/3; modes unchanged', (host) => [
    requestOfAdmin('GET http://evil.example:8081/modes', { host }),
    requestOfAdmin(`GET http://${host}/modes`, EVIL),
    requestOfAdmin('PUT http://evil.example/modes', { host, origin: 'http://evil.example' }, '{"default":"v1"}'),
  ]),
  attack('a body larger than any modes are', '400/3; modes unchanged', (host) => [
    requestOfAdmin('PUT /modes', { host }, JSON.stringify({ testers: ['x'.repeat(300_000)] })),
  ]),
  longFault('admin port: connections held open', '300 closed; afterwards 200', heldOpen),
  fault('admin port: a thousand requests in one packet', 'a few answers, closed; afterwards 200', pipeline),
  attack(
    'no token, as probes ask',
    '200 200; modes unchanged',
    (host) => PROBES.map((path) => requestOfAdmin(`GET ${path}`, { host })),
    TOKENS,
  ),
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
      put(bearerOfAdmin(host, 'changes-modes-and-read')),
      put(bearerOfAdmin(host, 'changes-modes-and-reads2')),
      put({ host, authorization: 'Basic changes-modes-and-reads' }),
      put({ host, authorization: 'changes-modes-and-reads' }),
      put({ host, cookie: 'token=changes-modes-and-reads' }),
      requestOfAdmin('PUT /modes?token=changes-modes-and-reads', { host }, '{"default":"v1"}'),
      requestOfAdmin('GET /modes?access_token=reads-and-nothing-else', { host }),
    ],
    TOKENS,
  ),
  attack(
    'the token that reads changes the modes',
    '200 403/7 403/7; modes unchanged',
    (host) => [
      requestOfAdmin('GET /modes', bearerOfAdmin(host, 'reads-and-nothing-else')),
      put(bearerOfAdmin(host, 'reads-and-nothing-else')),
      requestOfAdmin('POST /modes', bearerOfAdmin(host, 'reads-and-nothing-else'), '{"default":"v1"}'),
    ],
    TOKENS,
  ),
  attack('the right token from a page of somebody else', '403/7 403/7; modes unchanged', (host) => [
    put({ ...bearerOfAdmin(host, 'changes-modes-and-reads'), origin: 'http://evil.example' }),
    put({ ...bearerOfAdmin('evil.example', 'changes-modes-and-reads') }),
  ]),
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

const putOfTokenGuesses = (host: string, value: string) =>
  `PUT /modes HTTP/1.1\r\nhost: ${host}\r\nauthorization: ${value}\r\ncontent-type: application/json\r\ncontent-length: ${MODES.length}\r\nconnection: close\r\n\r\n${MODES}`

/** Tries wrong tokens by the thousand, and asks with the right one meanwhile. */
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
  const odd = await Promise.all(ODD.map((value) => talk(adminUrl, putOfTokenGuesses(new URL(adminUrl).host, value))))
  const isRefused = odd.every(({ answers }) => [400, 401].includes(answers[0]?.status ?? 0))
  const state = await request(`${adminUrl}/modes`, { headers: bearer(TOKEN), dispatcher })
  const { version } = (await state.body.json()) as { version: number }
  await dispatcher.close()
  const told = proxy.log.filter(({ what }) => what === 'refused')
  const isSilent = !JSON.stringify(proxy.log).includes(TOKEN.slice(0, -1))
  return [
    `guesses ${[...ends].join()}`,
    `odd ones ${isRefused ? 'refused' : 'not refused'}`,
    `the right token meanwhile ${[...right].join()}`,
    `modes at version ${version}`,
    `${told.length <= 60 ? 'a few' : told.length} log lines, ${isSilent ? 'no token in them' : 'with tokens'}`,
    `memory ${grown < 64 * 2 ** 20 ? 'bounded' : `grew by ${grown}`}`,
  ].join('; ')
}

export const tokenGuesses: readonly Fault[] = [
  longFault(
    `admin port: ${GUESSES} wrong tokens, near ones, huge ones and odd bytes`,
    'guesses 401; odd ones refused; the right token meanwhile 200; modes at version 1; a few log lines, no token in them; memory bounded',
    () => inWorld(serving(3), SETTINGS, guess),
  ),
]

/** Request targets that name another host. Only our own upstream may be asked. */
const ELSEWHERE = ['http://169.254.169.254/latest', '//169.254.169.254/latest', '/\\169.254.169.254/latest', '/@169.254.169.254/latest']

async function otherHosts(): Promise<string> {
  return inWorld(serving(3), { 'upstream.v1': undefined }, async ({ proxy, upstream }) => {
    const said: string[] = []
    for (const target of ELSEWHERE) {
      const { answers } = await talk(proxy.url, `GET ${target} HTTP/1.1\r\nhost: 169.254.169.254\r\nconnection: close\r\n\r\n`)
      said.push(say(answers[0]))
    }
    const hosts = new Set(upstream.seen.map(({ headers }) => headers.host === new URL(upstream.url).host))
    return `${said.join(', ')}; ${upstream.seen.length} passed on, our upstream's host: ${[...hosts].join()}`
  })
}

/** `METHOD target`. */
type Line = `${string} /${string}`

/** Returns the answers to each of these requests over HTTP/1.1 and over HTTP/2. */
async function answersTo(url: string, lines: readonly Line[]): Promise<readonly (WireAnswer | undefined)[]> {
  const given: (WireAnswer | undefined)[] = []
  for (const line of lines) {
    const [method = '', target = ''] = line.split(' ')
    given.push(...(await askBoth(url, { method, target })))
  }
  return given
}

/** Counts each answer, and the requests that were passed on. */
async function refusals({ proxy, upstream }: Pick<World, 'proxy' | 'upstream'>, lines: readonly Line[]): Promise<string> {
  const counts = new Map<string, number>()
  for (const answer of await answersTo(proxy.url, lines)) counts.set(say(answer), (counts.get(say(answer)) ?? 0) + 1)
  return `${[...counts].map(([said, count]) => `${said} × ${count}`).join(', ')}; ${upstream.seen.length} passed on`
}

/** The same if v2 lives below a path of its server. */
const refusedBelow = (lines: readonly Line[]) =>
  inWorld(serving(3), {}, async ({ upstream }) => {
    const proxy = await startProxy({ 'upstream.v2': `${upstream.url}/tenant-a` })
    try {
      return await refusals({ upstream, proxy }, lines)
    } finally {
      await proxy.close()
    }
  })

/** Returns the odd but allowed requests that did not arrive unchanged. */
const changed = (lines: readonly Line[]) =>
  inWorld(serving(3), {}, async ({ upstream, proxy }) => {
    await answersTo(proxy.url, lines)
    const seen = upstream.seen.map(({ method, url }) => `${method} ${url}`)
    const others = seen.filter((line, at) => line !== lines[Math.floor(at / 2)])
    return `${seen.length} of ${2 * lines.length} passed on, ${others.length === 0 ? 'none changed' : others.join(', ')}`
  })

const NO_PATHS: readonly Line[] = [
  ...(['GET /iam/v1/groups#x', 'POST /iam/v1/groups/a#x', 'GET /registry/v1/vuln_reports?repo=a#b', 'GET /iam/v2/groups#x'] as const),
  ...([
    'GET /iam/v1/groups\\',
    'GET /registry/v1/vuln_reports\\..\\x',
    'DELETE /iam/v1/groups/"<>`^{|}[]',
    'GET /iam/v1/\u00fc',
    'GET /iam/v1/groups?name=\u00c3\u00bc',
  ] as const),
]

const CLIMBING: readonly Line[] = [
  ...(['GET /../admin', 'GET /%2e%2E/admin', 'GET /..;/admin', 'GET /..%3b/admin', 'GET /x%2f..%2fadmin', 'GET /..\\admin'] as const),
  ...(['GET /..%5Cadmin', 'GET /%252e%252e/admin', 'GET /x/./..', 'GET /.?x'] as const),
]

/** Methods of v2, known and unknown, and its paths below a repo; `addChart` belongs to other resources. */
const METHODS: readonly Line[] = [
  ...(['POST /iam/v1/groups/abc:sync', 'DELETE /iam/v1/groups/abc%3Apurge', 'PUT /registry/v1/repos/abc:archive'] as const),
  ...(['PUT /registry/v1/repos/abc/readme', 'DELETE /iam/v1/groups/abc:addChart', 'POST /iam/v1/terms/abc:checkPolicies'] as const),
]

const TARGETS_ODD: readonly Line[] = [
  'GET /registry/v1/vuln_reports/a%2fb%5C;x=1!$&\'()*+@:=~//c%25?x="<>|\\^`{}[]&y=%41+%zz',
  'GET /libraries/v1/x:y//?',
  'GET /x\\y//..;/%2e/"<>|\\^`{}[]?a=/../%zz',
  'GET //iam/v1/groups',
]

/** REST paths with the content type of gRPC; for the last three, v2 lives below a path. */
const asGrpc = () =>
  inWorld(serving(3), {}, async ({ upstream, proxy }) => {
    const below = await startProxy({ 'upstream.v2': `${upstream.url}/tenant-a` })
    const ask = async ({ url }: TestProxy, line: Line) => {
      const [method = '', target = ''] = line.split(' ')
      const answer = await ask2(url, { method, target, headers: { 'content-type': 'application/grpc' }, body: Buffer.alloc(5) })
      const status = answer.headers.get('grpc-status')
      return status === undefined ? say(answer) : `gRPC ${status}`
    }
    const said: string[] = []
    try {
      for (const line of ['POST /iam/v1/groups/abc', 'POST /iam/v1/groups#x', 'DELETE /iam/v1/groups/abc:purge'] as const)
        said.push(await ask(proxy, line))
      for (const line of ['POST /../a.B/C', 'POST /admin/x', 'GET /..%2fadmin'] as const) said.push(await ask(below, line))
    } finally {
      await below.close()
    }
    return `${said.join(', ')}; ${upstream.seen.length} passed on`
  })

/** A POST with a GET override, beside a type for which v1 ignores it. Both sides would be asked for a read, more than once. */
const disguised = () =>
  inWorld(serving(3), { modes: { ...ALL_V2, default: 'diff-v1' }, 'diff.learnEvery': 1 }, async ({ upstream, proxy }) => {
    const headers = { ...bearer('t'), 'x-http-method-override': 'GET', 'content-type': 'application/json' }
    const answers = await askBoth(proxy.url, { method: 'POST', target: '/iam/v1/groups', headers, body: Buffer.from('{"name":"x"}') })
    const metrics = async () => (await fetch(`${proxy.adminUrl}/metrics`)).text()
    await until(async () => (await metrics()).includes('crosswalk_comparison_jobs_total{end="done"} 1'))
    const writes = upstream.seen.filter(({ method }) => method === 'POST')
    return `${answers.map(say).join(', ')}; ${writes.length} writes, ${writes.filter(({ url }) => url.includes('/v1/')).length} of them to v1`
  })

/** Handshakes to the targets of requests. */
const handshakes = (targets: readonly string[]) =>
  inWorld(serving(3), {}, async ({ upstream }) => {
    const proxy = await startProxy({ 'upstream.v2': `${upstream.url}/tenant-a` })
    const said: string[] = []
    const offer = 'connection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\nsec-websocket-version: 13'
    for (const target of targets) {
      const { answers } = await talk(proxy.url, `GET ${target} HTTP/1.1\r\nhost: x\r\n${offer}\r\n\r\n`)
      said.push(say(answers[0]))
    }
    await proxy.close()
    return `${said.join(', ')}; ${upstream.seen.length} passed on`
  })

export const targetAttacks: readonly Fault[] = [
  fault('a target that names another host', "400/3, 200, 200, 200; 3 passed on, our upstream's host: true", otherHosts),
  fault('a target with a fragment, or a v1 path with characters that no path holds', '400/3 × 18; 0 passed on', () =>
    inWorld(serving(3), {}, (world) => refusals(world, NO_PATHS)),
  ),
  fault('a target that climbs out of the path of v2', '400/3 × 20; 0 passed on', () => refusedBelow(CLIMBING)),
  fault('an id that v2 would take for a method, or for another resource', '400/3 × 12; 0 passed on', () =>
    inWorld(serving(3), {}, (world) => refusals(world, METHODS)),
  ),
  fault('a path of REST that calls itself gRPC', 'gRPC 12, gRPC 3, 400/3, gRPC 3, gRPC 12, 400/3; 0 passed on', asGrpc),
  fault('a write whose header calls it a read, while both sides are compared', '200, 200; 2 writes, 2 of them to v1', disguised),
  fault('WebSocket handshakes with targets that a request may not have', '400/3, 400/3, 400/3, 400/3; 0 passed on', () =>
    handshakes(['/../admin', 'http://169.254.169.254/', '/iam/v1/groups#x', '/iam/v2/x#y']),
  ),
  fault('odd targets that may be passed on', '8 of 8 passed on, none changed', () => changed(TARGETS_ODD)),
]
