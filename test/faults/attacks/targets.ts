import { ALL_V2 } from '../../../src/migrate/modes/rules.ts'
import { bearer, startProxy, type TestProxy } from '../../stage/proxy.ts'
import { until } from '../../stage/until.ts'
import { ask2, askBoth } from '../both-protocols.ts'
import type { Fault } from '../fault.ts'
import { say } from '../say.ts'
import { talk, type WireAnswer } from '../wire.ts'
import { inWorld, serving, type World } from '../world.ts'

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

const ODD: readonly Line[] = [
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
  {
    name: 'a target that names another host',
    expected: "400/3, 200, 200, 200; 3 passed on, our upstream's host: true",
    see: otherHosts,
  },
  {
    name: 'a target with a fragment, or a v1 path with characters that no path holds',
    expected: '400/3 × 18; 0 passed on',
    see: () => inWorld(serving(3), {}, (world) => refusals(world, NO_PATHS)),
  },
  {
    name: 'a target that climbs out of the path of v2',
    expected: '400/3 × 20; 0 passed on',
    see: () => refusedBelow(CLIMBING),
  },
  {
    name: 'an id that v2 would take for a method, or for another resource',
    expected: '400/3 × 12; 0 passed on',
    see: () => inWorld(serving(3), {}, (world) => refusals(world, METHODS)),
  },
  {
    name: 'a path of REST that calls itself gRPC',
    expected: 'gRPC 12, gRPC 3, 400/3, gRPC 3, gRPC 12, 400/3; 0 passed on',
    see: asGrpc,
  },
  {
    name: 'a write whose header calls it a read, while both sides are compared',
    expected: '200, 200; 2 writes, 2 of them to v1',
    see: disguised,
  },
  {
    name: 'WebSocket handshakes with targets that a request may not have',
    expected: '400/3, 400/3, 400/3, 400/3; 0 passed on',
    see: () => handshakes(['/../admin', 'http://169.254.169.254/', '/iam/v1/groups#x', '/iam/v2/x#y']),
  },
  {
    name: 'odd targets that may be passed on',
    expected: '8 of 8 passed on, none changed',
    see: () => changed(ODD),
  },
]
