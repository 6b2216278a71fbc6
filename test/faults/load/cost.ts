import { readFileSync } from 'node:fs'
import { startUpstream } from '../../routes/support.ts'
import { type Child, metric, serve, until } from '../process/child.ts'
import { type Behaviour, listOf } from '../world.ts'
import { createCaller } from './callers.ts'
import { closedLoop } from './pressure.ts'

const PATH = '/iam/v1/groups'
const BODY = Buffer.from(listOf(20))
const CLIENTS = 16
const MEASURED = 3000

export const CHEAP = 'goodput ≥ 80 % of the peak: a refusal takes a sixth of the CPU time of an answer, or less'

/**
 * Where the process itself is the bottleneck, load that is twice its capacity leaves (1 - 2x) / (1 - x) of its goodput, x being what a
 * refusal costs against an answer: 80 % while x is a sixth. Both are told in CPU time of the proxy, because clients that ask so fast are as
 * busy as the proxy is, and what they measure is themselves.
 */
export async function costOfRefusal(): Promise<string> {
  const answered = await costOf(200, 1000)
  const refused = await costOf(503, 1)
  const x = refused / answered
  const share = (1 - 2 * x) / (1 - x)
  const figures = `an answer ${answered.toFixed(0)} µs, a refusal ${refused.toFixed(0)} µs: ${(100 * share).toFixed(0)} % of the peak`
  process.stderr.write(`      ${figures}\n`)
  return share >= 0.8 ? CHEAP : figures
}

/** Answers everybody but the one who asks first. */
function holdingOne(): { behaviour: Behaviour; release: () => void } {
  let release = () => {}
  const behaviour: Behaviour = (request, response) => {
    if (request.headers.authorization === 'Bearer held') release = () => response.end(BODY)
    else response.end(BODY)
  }
  return { behaviour, release: () => release() }
}

/** Microseconds of CPU for a request that ends with this status. */
async function costOf(status: number, requestsInFlight: number): Promise<number> {
  const { behaviour, release } = holdingOne()
  const upstream = await startUpstream(behaviour)
  const child = await serve({ 'upstream-v2': upstream.url, 'requests-in-flight': requestsInFlight })
  const first = createCaller(child.url, PATH, 'held')
  try {
    void first.ask()
    await until(async () => (await metric(child, 'crosswalk_requests_in_flight')) === 1)
    await closedLoop(child.url, PATH, CLIENTS, MEASURED / 2)
    const before = cpuMs(child)
    const { outcomes } = await closedLoop(child.url, PATH, CLIENTS, MEASURED)
    const used = cpuMs(child) - before
    const others = outcomes.filter((outcome) => outcome.status !== status)
    if (others.length > 0) throw new Error(`${others.length} of ${outcomes.length} answers were not ${status}`)
    return (1000 * used) / outcomes.length
  } finally {
    release()
    first.close()
    await child.stop('SIGTERM')
    await upstream.close()
  }
}

/** CPU time that a process has used (`/proc`, in ticks of 10 ms). */
function cpuMs({ pid }: Child): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}
