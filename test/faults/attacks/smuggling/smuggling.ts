import { runLane } from '../../../garden/lane.ts'
import { answerShapes } from '../../../garden/rows/answers.ts'
import { bodyShapes } from '../../../garden/rows/bodies.ts'
import { firstChunkShapes, lastChunkShapes } from '../../../garden/rows/chunks.ts'
import { codingShapes } from '../../../garden/rows/codings.ts'
import { connectionShapes } from '../../../garden/rows/connections.ts'
import { expectationShapes } from '../../../garden/rows/expectations.ts'
import { headerShapes } from '../../../garden/rows/headers.ts'
import { lengthShapes } from '../../../garden/rows/lengths.ts'
import { CARRIERS, type Shape, TARGETS } from '../../../garden/rows/make.ts'
import { pipelineShapes } from '../../../garden/rows/pipelines.ts'
import { startShapes } from '../../../garden/rows/targets.ts'
import { upgradeShapes } from '../../../garden/rows/upgrades.ts'
import { inTurn, onEach, type Row, rowsOf } from '../../../garden/rows.ts'
import { describeWrong, listOf } from '../../../garden/ways.ts'
import { connect2, fetch2 } from '../../../listen/fetch2.ts'
import type { Fault } from '../../fault.ts'
import { inGarden, NEEDS_NGINX } from './garden.ts'
import { stolenCredentials } from './stolen-credentials.ts'

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

function send(rows: readonly Row[], isBehindNginx: boolean): Promise<string> {
  return inGarden(isBehindNginx, async ({ port, journal }) => {
    const findings = await runLane({ port, journal, carriers: CARRIERS }, rows)
    return listOf(findings, rows).map(describeWrong).join('; ') || NOTHING
  })
}

const SEED = 1

/**
 * Shapes that each carrier handles with code of its own. The rest goes over one carrier in turn, to be quick;
 * `npm run garden` sends all of them.
 */
const OF_THE_CARRIER: ReadonlySet<readonly Shape[]> = new Set([connectionShapes, upgradeShapes])

const alone = Object.entries({ ...KINDS, ...OF_THE_SERVICE }).map(([name, shapes]): Fault => {
  const carried = OF_THE_CARRIER.has(shapes) ? onEach(shapes) : inTurn(shapes)
  return { name: `smuggling: ${name}`, expected: NOTHING, see: () => send(rowsOf(carried, SEED), false) }
})

const behindNginx = Object.entries(KINDS).map(
  ([name, shapes]): Fault => ({
    name: `smuggling, nginx behind the proxy: ${name}`,
    expected: NOTHING,
    see: () => send(rowsOf(onEach(shapes), SEED), true),
    ...NEEDS_NGINX,
  }),
)

const HIDDEN = 'GET /iam/v2/hidden-0 HTTP/1.1\r\nhost: garden\r\n\r\n'

/** Sends lengths over HTTP/2, where frames end a body. An unchecked length would end it elsewhere. */
function lengthsOverHttp2(): Promise<string> {
  return inGarden(false, async ({ url, port, journal }) => {
    for (const carrier of CARRIERS) {
      for (const length of [0, 1, HIDDEN.length + 1]) {
        const session = await connect2(url)
        const headers = { ':method': 'POST', ':authority': 'garden', 'content-length': length }
        await fetch2(session, TARGETS[carrier].write, headers, HIDDEN).catch(() => {})
        session.destroy()
      }
    }
    const findings = await runLane({ port, journal, carriers: CARRIERS }, [])
    const hidden = journal.entries.filter(({ head }) => head.target.includes('hidden')).length
    return [`${hidden} hidden requests arrived`, ...listOf(findings, []).map(describeWrong)].join('; ')
  })
}

const overHttp2: Fault = {
  name: 'smuggling: lengths that are wrong, over HTTP/2',
  expected: '0 hidden requests arrived',
  see: lengthsOverHttp2,
}

export const smugglingAttacks: readonly Fault[] = [...alone, overHttp2, ...behindNginx, ...stolenCredentials]
