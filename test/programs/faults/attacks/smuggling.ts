import { startProxy } from '../../../stage/stage.ts'
import { connect2, fetch2 } from '../../../stage/upstream.ts'
import { credential, type Journal, startJournal } from '../../garden/judge.ts'
import { describeWrong, isServed, listOf, runLane, speak } from '../../garden/lane.ts'
import {
  answerShapes,
  bodyShapes,
  CARRIERS,
  type CarrierName,
  codingShapes,
  connectionShapes,
  expectationShapes,
  firstChunkShapes,
  headerShapes,
  inTurn,
  lastChunkShapes,
  lengthShapes,
  onEach,
  pipelineShapes,
  type Row,
  rowsOf,
  type Shape,
  startShapes,
  TARGETS,
  upgradeShapes,
} from '../../garden/rows.ts'
import { nginx, startServer } from '../../garden/servers.ts'
import { type Fault, fault } from '../fault.ts'

/** Uses the proxy in front of a journal in the place of v2 and v1, alone or behind nginx. */
async function inGarden(isBehindNginx: boolean, use: (place: { url: string; port: number; journal: Journal }) => Promise<string>) {
  const journal = await startJournal()
  const server = isBehindNginx ? await startServer(nginx, journal.port) : undefined
  const upstream = `http://127.0.0.1:${server?.port ?? journal.port}`
  const proxy = await startProxy({ 'upstream.v2': upstream, 'upstream.v1': upstream, 'fallback.perMinute': 0 })
  try {
    return await use({ url: proxy.url, port: Number(new URL(proxy.url).port), journal })
  } finally {
    await proxy.close()
    await server?.stop()
    await journal.close()
  }
}

export const NEEDS_NGINX = { full: true, needs: nginx.program } as const

/** More than the proxy adds to the head of a request. nginx skips empty lines before the next one. */
const EMPTY_LINES = '\r\n'.repeat(400)
const LENGTH = EMPTY_LINES.length

const HANDSHAKE = ['connection: Upgrade', 'upgrade: websocket', 'sec-websocket-version: 13', 'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==']

/** A whole request, and one whose last header would be another client's head. */
const HIDDEN = 'GET /iam/v2/hidden-0 HTTP/1.1\r\nhost: garden\r\n\r\nDELETE /iam/v2/hidden-1 HTTP/1.1\r\nx-ignore: '

/**
 * The two steps of a theft. First, the service refuses a request while it still expects `LENGTH` bytes.
 * Then a body places its requests where those bytes end. The credential of the next client would follow the open request.
 */
const steal = (carrier: CarrierName, first: readonly string[]) =>
  inGarden(true, async ({ port, journal }) => {
    const open = [`GET ${TARGETS[carrier].refused} HTTP/1.1`, 'host: garden', credential('open-0', 'early404'), ...first]
    await speak({ port, parts: [`${open.join('\r\n')}\r\n\r\n`], heads: [], owed: 1 })
    let served = true
    // A handshake goes to v2 whatever its path is.
    for (const by of new Set([carrier, 'native'] as const)) {
      await speak({ port, parts: [bodyForLength(by)], heads: [], owed: 1 })
      served &&= await isServed({ port }, by, `victim-0-${by}`)
    }
    const hidden = journal.entries.filter(({ head }) => head.target.includes('hidden'))
    const stolen = hidden.filter(({ id }) => id.startsWith('victim-'))
    return `${hidden.length} hidden requests, ${stolen.length} with the credential of somebody else, who was ${served ? '' : 'not '}served`
  })

function bodyForLength(carrier: CarrierName): string {
  const body = EMPTY_LINES + HIDDEN
  const head = [`POST ${TARGETS[carrier].write} HTTP/1.1`, 'host: garden', credential('next-0', 'ok'), `content-length: ${body.length}`]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}

const EXPECTED = '0 hidden requests, 0 with the credential of somebody else, who was served'

const FIRST: Readonly<Record<string, readonly string[]>> = {
  'a WebSocket handshake': [...HANDSHAKE, `content-length: ${LENGTH}`],
  'a GET with a body that does not come': [`content-length: ${LENGTH}`],
}

export const stolenCredentials: readonly Fault[] = Object.entries(FIRST).flatMap(([name, first]) =>
  CARRIERS.map(
    (carrier): Fault => ({
      name: `smuggling, nginx behind the proxy: ${name} (${carrier}), then a body for its length`,
      expected: EXPECTED,
      see: () => steal(carrier, first),
      ...NEEDS_NGINX,
    }),
  ),
)

/** Ways to hide a request in another one; every row of a kind is sent. */
const KINDS: Readonly<Record<string, readonly Shape[]>> = {
  'two framings, or one in an odd spelling': codingShapes,
  'lengths in odd spellings': lengthShapes,
  'chunks in odd spellings': [...firstChunkShapes, ...lastChunkShapes],
  'bodies that nobody expects or reads': bodyShapes,
  expectations: expectationShapes,
  'Connection that names what must stay': connectionShapes,
  'upgrades with bodies and in pipelines': upgradeShapes,
  pipelines: pipelineShapes,
  'odd request lines and headers': [...startShapes, ...headerShapes],
}

/** Services that answer for another request. nginx would not let these through to the proxy. */
const OF_THE_SERVICE = { 'answers with another one behind them': answerShapes }

const NOTHING = 'every request answered once and in step; nobody else concerned'

const send = (rows: readonly Row[], isBehindNginx: boolean) =>
  inGarden(isBehindNginx, async ({ port, journal }) => {
    const findings = await runLane({ port, journal, carriers: CARRIERS }, rows)
    return listOf(findings, rows).map(describeWrong).join('; ') || NOTHING
  })

const SEED = 1

/**
 * Shapes that each carrier handles with code of its own. The rest goes over one carrier in turn, to be quick;
 * `npm run garden` sends all of them.
 */
const OF_THE_CARRIER: ReadonlySet<readonly Shape[]> = new Set([connectionShapes, upgradeShapes])

const alone = Object.entries({ ...KINDS, ...OF_THE_SERVICE }).map(([name, shapes]): Fault => {
  const carried = OF_THE_CARRIER.has(shapes) ? onEach(shapes) : inTurn(shapes)
  return fault(`smuggling: ${name}`, NOTHING, () => send(rowsOf(carried, SEED), false))
})

const behindNginx = Object.entries(KINDS).map(
  ([name, shapes]): Fault => ({
    name: `smuggling, nginx behind the proxy: ${name}`,
    expected: NOTHING,
    see: () => send(rowsOf(onEach(shapes), SEED), true),
    ...NEEDS_NGINX,
  }),
)

const SMUGGLING_HIDDEN = 'GET /iam/v2/hidden-0 HTTP/1.1\r\nhost: garden\r\n\r\n'

const overHttp2: Fault = fault('smuggling: lengths that are wrong, over HTTP/2', '0 hidden requests arrived', () =>
  inGarden(false, async ({ url, port, journal }) => {
    for (const carrier of CARRIERS) {
      for (const length of [0, 1, SMUGGLING_HIDDEN.length + 1]) {
        const session = await connect2(url)
        const headers = { ':method': 'POST', ':authority': 'garden', 'content-length': length }
        await fetch2(session, TARGETS[carrier].write, headers, SMUGGLING_HIDDEN).catch(() => {})
        session.destroy()
      }
    }
    const findings = await runLane({ port, journal, carriers: CARRIERS }, [])
    const hidden = journal.entries.filter(({ head }) => head.target.includes('hidden')).length
    return [`${hidden} hidden requests arrived`, ...listOf(findings, []).map(describeWrong)].join('; ')
  }),
)

export const smugglingAttacks: readonly Fault[] = [...alone, overHttp2, ...behindNginx, ...stolenCredentials]
