import { Agent, request } from 'undici'
import type { Config } from '../../../src/app/config/settings.ts'
import { bearer } from '../../stage/proxy.ts'
import type { Fault } from '../fault.ts'
import { talk } from '../wire.ts'
import { inWorld, serving, type World } from '../world.ts'

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

const put = (host: string, value: string) =>
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
  const odd = await Promise.all(ODD.map((value) => talk(adminUrl, put(new URL(adminUrl).host, value))))
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
  {
    name: `admin port: ${GUESSES} wrong tokens, near ones, huge ones and odd bytes`,
    expected:
      'guesses 401; odd ones refused; the right token meanwhile 200; modes at version 1; a few log lines, no token in them; memory bounded',
    see: () => inWorld(serving(3), SETTINGS, guess),
    full: true,
  },
]
