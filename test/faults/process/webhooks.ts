import type { IncomingMessage, ServerResponse } from 'node:http'
import { startUpstream } from '../../stage/upstream.ts'
import type { Fault } from '../fault.ts'
import { createCallers } from '../load/callers.ts'
import { openLoop } from '../load/pressure.ts'
import { residentMiB } from '../soak/samples.ts'
import { listOf } from '../world.ts'
import { metric, serve } from './child.ts'

const PER_SECOND = 200
const MS = 3000

/** Changes of the modes, each of which is an event. More than wait. */
const CHANGES = 1500

/** Milliseconds that the end may take: the requests are over, the receiver gets three seconds. */
const END_MS = 6000

const MORE_MIB = 48

type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** Changes the modes again and again under load, with this receiver, and ends the process. */
async function withReceiver(answer: Answer): Promise<string> {
  const upstream = await startUpstream((_, response) => void response.end(listOf(20)))
  const webhook = await startUpstream(answer)
  let [open, most] = [0, 0]
  webhook.server.on('connection', (socket) => {
    open += 1
    most = Math.max(most, open)
    socket.on('close', () => {
      open -= 1
    })
  })
  const secret = `whsec_${Buffer.alloc(32, 'x').toString('base64')}`
  const notify = { 'notify-url': `${webhook.url}/hook`, 'notify-secret': secret, 'notify-timeout-ms': 1000 }
  const child = await serve({ 'upstream-v2': upstream.url, ...notify })
  const callers = createCallers(child.url, '/iam/v1/groups')
  const change = async () => {
    for (let nth = 0; nth < CHANGES; nth += 1) {
      const headers = { 'content-type': 'application/json' }
      await fetch(`${child.adminUrl}/modes`, { method: 'PUT', headers, body: '{"default":"v2"}' })
    }
  }
  try {
    await openLoop(callers, PER_SECOND, MS / 2)
    const before = residentMiB(child.pid)
    const [load] = await Promise.all([openLoop(callers, PER_SECOND, MS), change()])
    const more = residentMiB(child.pid) - before
    const waiting = await metric(child, 'crosswalk_notifications_waiting')
    const dropped = await metric(child, 'crosswalk_notifications_total{end="dropped"}')
    const begun = performance.now()
    const code = await child.stop('SIGTERM')
    const took = performance.now() - begun
    const wrong = load.outcomes.filter(({ status }) => status !== 200).length
    process.stderr.write(`      ${more.toFixed(0)} MiB more, ${waiting} wait, ${dropped} dropped, ended within ${took.toFixed(0)} ms\n`)
    return [
      `${wrong} requests failed`,
      // A connection that is given up may still be closing when the next one opens.
      most <= 2 ? 'one connection to it at a time' : `${most} connections to it at a time`,
      waiting <= 1001 && waiting + dropped >= CHANGES - 20 ? 'what does not wait is counted' : `${waiting} wait, ${dropped} dropped`,
      more <= MORE_MIB ? `at most ${MORE_MIB} MiB more` : `${more.toFixed(0)} MiB more`,
      took <= END_MS ? `the end within ${END_MS / 1000} s` : `the end after ${took.toFixed(0)} ms`,
      `exit code ${code}`,
    ].join('; ')
  } finally {
    callers.close()
    if (child.isAlive()) await child.stop('SIGKILL')
    await upstream.close()
    await webhook.close()
  }
}

const EXPECTED = `0 requests failed; one connection to it at a time; what does not wait is counted; at most ${MORE_MIB} MiB more; the end within 6 s; exit code 0`

const RECEIVERS: readonly (readonly [name: string, answer: Answer])[] = [
  ['hangs', () => {}],
  ['resets every connection', ({ socket }) => void socket.resetAndDestroy()],
  ['answers 500 for ever', (_, response) => void response.writeHead(500).end()],
]

export const webhookFaults: readonly Fault[] = RECEIVERS.map(([name, answer]) => ({
  name: `a receiver of events that ${name}, under load`,
  expected: EXPECTED,
  full: true,
  see: () => withReceiver(answer),
}))
