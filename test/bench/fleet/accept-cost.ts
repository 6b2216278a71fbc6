import { readdirSync, readFileSync } from 'node:fs'
import http from 'node:http'
import { cpuMs } from '../child.ts'
import { startCrosswalk } from '../proxies.ts'
import { uidAt } from '../rows.ts'

const MS = 3000
const LANES = 16

/** Returns one line: what a request on a connection of its own costs the supervisor, and its two workers. */
export async function acceptCost(upstream: string): Promise<string> {
  const child = await startCrosswalk(upstream, { cores: '0-1', flags: ['--workers', '2'] })
  await connectFor(child.url)
  const workers = () => childrenOf(child.pid).reduce((sum, pid) => sum + cpuMs(pid), 0)
  const [all, ofWorkers] = [cpuMs(child.pid), workers()]
  const requests = await connectFor(child.url)
  const [allMs, workerMs] = [cpuMs(child.pid) - all, workers() - ofWorkers]
  await child.stop()
  const micros = (ms: number) => `${((ms * 1000) / requests).toFixed(0)} µs`
  return `a connection for each request: ${micros(allMs - workerMs)} in the supervisor, ${micros(workerMs)} in a worker\n`
}

/** Returns the number of requests. */
async function connectFor(url: string): Promise<number> {
  const end = performance.now() + MS
  let requests = 0
  const lane = async (at: number) => {
    while (performance.now() < end) {
      await once(`${url}/registry/v1/tags?id=${uidAt(1)}`, `Bearer caller-${at}`)
      requests += 1
    }
  }
  await Promise.all(Array.from({ length: LANES }, (_, at) => lane(at)))
  return requests
}

function once(url: string, authorization: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = http.get(url, { agent: false, headers: { authorization, connection: 'close' } }, (answer) => {
      answer.resume().once('end', resolve).once('error', reject)
    })
    request.once('error', reject)
  })
}

function childrenOf(pid: number): readonly number[] {
  const texts = readdirSync(`/proc/${pid}/task`).map((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1'))
  return texts.flatMap((text) => text.trim().split(' ').filter(Boolean).map(Number))
}
