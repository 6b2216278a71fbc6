import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { WireHandler } from '../../../../src/grpc/wire/call.ts'
import { createServePair } from '../../../../src/grpc/wire/connect.ts'
import { createServeGrpc, createServeGrpcStream, type WireStreamHandler } from '../../../../src/grpc/wire/grpc.ts'
import { createRoom } from '../../../../src/serve/bounds.ts'
import { createListener } from '../../../../src/serve/listen/listener.ts'
import { createDeadlines } from '../../../../src/serve/listen/times.ts'
import { diceOf } from '../dice.ts'
import type { Fuzzed } from '../over-http.ts'
import { createAskers, type WireAnswered } from './ask.ts'
import { drawWireCase, MOST, type WireCase } from './draw.ts'

/** The number of parallel calls. */
const LANES = 16
/** Milliseconds after which a call counts as hanging. */
const HANGS = 10_000
/** Calls on one connection: Node ends one whose client resets a thousand streams. */
const ON_ONE = 300

const ROOM = 64 * 2 ** 20
const LIMITS = { headerBytes: 65_536, headersTimeoutMs: 10_000, idleTimeoutMs: 60_000, maxStreams: 100, connections: 0 }

const echo: WireHandler = ({ message }) => Promise.resolve({ message: [message] })
const echoAll: WireStreamHandler = async function* ({ messages }) {
  for await (const message of messages) yield Buffer.from(message)
}

/**
 * Makes random calls to the wire alone, over all its protocols. It fails if a call has no answer, the code UNKNOWN, a code that is wrong
 * for what was sent or another message, if the wire reports an exception, or if room for messages is lost.
 */
export async function fuzzWire(cases: number, seed: number): Promise<Fuzzed> {
  const room = createRoom(ROOM)
  const failures: unknown[] = []
  const failed = (error: unknown) => void failures.push(error)
  const settings = { requestBytes: MOST, room, deadlines: createDeadlines(60_000), failed }
  const [grpc, stream, pair] = [createServeGrpc(settings), createServeGrpcStream(settings), createServePair(settings)]
  const request: RequestListener = (arrived, response) => pair({ request: arrived, response }, { handler: echo, isSafe: true })
  const listener = createListener(
    (bare, headers) => (headers[':path'] === '/stream' ? stream(bare, headers, echoAll) : grpc(bare, headers, echo)),
    { certificate: undefined, ...LIMITS },
  )
  const server = listener.create({ request, expectation: request, failed, dropped() {} })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const statuses: Record<string, number> = {}
  try {
    for (let at = 0; at < cases; at += ON_ONE) {
      const askers = createAskers(url)
      let next = at
      const lane = async () => {
        while (next < Math.min(at + ON_ONE, cases)) {
          const nth = next
          next += 1
          const drawn = drawWireCase(diceOf(seed, nth))
          const answered = await within(askers.ask(drawn))
          const kind = `${drawn.way} ${answered?.code ?? answered?.http ?? (answered ? 'gone' : 'hangs')}`
          statuses[kind] = (statuses[kind] ?? 0) + 1
          const wrong = failures.length > 0 ? `it threw ${String(failures[0])}` : wrongWith(drawn, answered)
          if (wrong) throw new Error(`case ${nth} of CROSSWALK_SEED=${seed}: ${wrong}\n${told(drawn)}`)
        }
      }
      await Promise.all(Array.from({ length: LANES }, lane))
      await askers.close()
    }
    listener.cut()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    if (!room.take(ROOM)) throw new Error(`CROSSWALK_SEED=${seed}: room for messages was not given back`)
    return { statuses }
  } finally {
    listener.cut()
    server.close()
  }
}

function within(answer: Promise<WireAnswered>): Promise<WireAnswered | undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(undefined), HANGS)
    answer.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

function wrongWith({ end, codes, message }: WireCase, answered: WireAnswered | undefined): string | undefined {
  if (!answered) return 'the call hangs'
  const { code, http } = answered
  if (end === 'reset') return undefined
  if (code === undefined) return http === undefined || codes ? `there is no code, and HTTP says ${http}` : undefined
  if (code === 2) return 'the code is UNKNOWN'
  if (codes && !codes.includes(code)) return `the code is ${code}, expected ${codes.join(' or ')}`
  return code === 0 && message && !message.equals(answered.message) ? 'the message is another' : undefined
}

function told({ body, ...rest }: WireCase): string {
  return JSON.stringify({ ...rest, message: undefined, body: body.toString('hex').slice(0, 400) })
}
