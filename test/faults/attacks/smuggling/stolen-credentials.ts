import { isServed } from '../../../garden/lane.ts'
import { CARRIERS, type CarrierName, TARGETS } from '../../../garden/rows/make.ts'
import { speak } from '../../../garden/speak.ts'
import { credential } from '../../../garden/tokens.ts'
import type { Fault } from '../../fault.ts'
import { inGarden, NEEDS_NGINX } from './garden.ts'

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
async function steal(carrier: CarrierName, first: readonly string[]): Promise<string> {
  return inGarden(true, async ({ port, journal }) => {
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
}

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
