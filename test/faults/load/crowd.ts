import { readFileSync } from 'node:fs'
import net, { type AddressInfo } from 'node:net'
import { type Child, serve } from '../process/child.ts'
import { listOf } from '../world.ts'
import { type Callers, createCallers } from './callers.ts'
import { closedLoop, openLoop, quantile } from './pressure.ts'

const PATH = '/iam/v1/groups'
/** The limit of requests in flight, and the clients of the peak: enough to keep the process busy. */
const ROOM = 64
/** The clients of the crowd. They ignore `retry-after`, and each has a connection. */
const CROWD = 192
const MEASURED = 700
/** Peak and crowd alternate on existing connections, because other work on the machine affects both. */
const TURNS = 11

export const SERVED = 'goodput ≥ 80 % of the peak; the excess 503 with Retry-After within 250 ms'

/** Measures how much of its goodput the process keeps, as the bottleneck, when a crowd sends twice as many requests as it can answer. */
export async function crowd(): Promise<string> {
  const upstream = await startFixed(listOf(20))
  const child = await serve({ 'upstream-v2': upstream.url, 'requests-in-flight': ROOM })
  const callers = createCallers(child.url, PATH)
  try {
    await closedLoop(callers, CROWD, 4 * MEASURED)
    const turns: Turn[] = []
    for (let turn = 0; turn < TURNS; turn++) turns.push(await takeTurn(child, callers))
    return verdict(turns)
  } finally {
    callers.close()
    await child.stop('SIGTERM')
    upstream.close()
  }
}

interface Turn {
  readonly peak: number
  readonly busy: number
  readonly useful: number
  readonly refused: number
  /** Milliseconds within which 99 of 100 refusals arrived. */
  readonly late: number
  /** Answers that were neither useful nor a refusal with a time to retry. */
  readonly others: number
}

async function takeTurn(child: Child, callers: Callers): Promise<Turn> {
  const used = cpuMs(child)
  const peak = await closedLoop(callers, ROOM, MEASURED)
  const busy = (cpuMs(child) - used) / MEASURED
  const pressed = await openLoop(callers, 2 * peak.goodput, MEASURED, CROWD)
  const refused = pressed.outcomes.filter(({ status, retryAfter }) => status === 503 && retryAfter)
  const times = refused.map(({ ms }) => ms)
  const others = pressed.outcomes.filter(({ status }) => status !== 200).length - refused.length
  return { peak: peak.goodput, busy, useful: pressed.goodput, refused: refused.length, late: quantile(times, 0.99), others }
}

function verdict(turns: readonly Turn[]): string {
  const median = (of: (turn: Turn) => number) => quantile(turns.map(of), 0.5)
  const share = median(({ useful, peak }) => useful / peak)
  const late = median((turn) => turn.late)
  const busy = median((turn) => turn.busy)
  const figures = `peak ${median(({ peak }) => peak).toFixed(0)}/s (process ${(100 * busy).toFixed(0)} % busy), twice that asked, useful ${median(
    ({ useful }) => useful,
  ).toFixed(0)}/s (${(100 * share).toFixed(0)} %), refused within ${late.toFixed(0)} ms (p99)`
  process.stderr.write(`      ${figures}\n`)
  const holds = [share >= 0.8, late < 250, turns.every(({ refused, others }) => refused > 0 && others === 0)]
  return holds.every(Boolean) ? SERVED : figures
}

/** A minimal service: an HTTP server of Node would need as much of its core as the proxy does. */
async function startFixed(body: string) {
  const answer = Buffer.from(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
  const server = net.createServer((socket) => {
    socket.setNoDelay(true).on('error', () => socket.destroy())
    socket.on('data', () => socket.write(answer))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() }
}

/** Returns the CPU time of a process (`/proc`, in ticks of 10 ms). */
function cpuMs({ pid }: Child): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}
