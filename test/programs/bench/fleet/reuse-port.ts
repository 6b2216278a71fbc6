import { spawn } from 'node:child_process'
import cluster from 'node:cluster'
import { once } from 'node:events'
import http from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'

/**
 * Compares two ways in which workers share a port, with a new connection for each request: the supervisor accepts (round robin), or each worker
 * listens itself (`reusePort`, Node 23.1 or newer). It counts requests a second, and those that are lost while workers are replaced.
 *
 *     npx tsc -p test/programs/bench && npx --package node@24.21.0 node .bench/fleet/reuse-port.js
 */
const PORT = 29_871
const LANES = 32
const MS = 4000
const ROUNDS = 2
const EVERY_MS = 250
/** Milliseconds after which a request is lost. */
const PATIENCE = 1000

type Way = 'round robin' | 'reusePort'

function serve(way: Way): void {
  const server = http.createServer((_, response) => response.end('ok'))
  process.on('message', () => server.close(() => process.exit(0)))
  // The supervisor has ended.
  cluster.worker?.on('error', () => process.exit(0))
  server.listen({ port: PORT, host: '127.0.0.1', ...(way === 'reusePort' && { exclusive: true, reusePort: true }) }, () =>
    process.send?.('on'),
  )
}

/** Has two workers serve. At a message it begins to replace them one by one, each after its successor listens. */
async function supervise(): Promise<void> {
  const started = async () => {
    const worker = cluster.fork()
    await once(worker, 'message')
    return worker
  }
  const workers = [await started(), await started()]
  process.once('disconnect', () => process.exit(0))
  process.send?.('on')
  await once(process, 'message')
  for (;;) {
    workers.push(await started())
    workers.shift()?.send('leave')
    await pause(EVERY_MS)
  }
}

function ask(): Promise<boolean> {
  return new Promise((done) => {
    const request = http.get({ port: PORT, host: '127.0.0.1', agent: false }, (response) => response.resume().once('end', () => done(true)))
    request.setTimeout(PATIENCE, () => request.destroy()).once('error', () => done(false))
  })
}

async function load(): Promise<{ readonly perSecond: number; readonly lost: number }> {
  const counts = { done: 0, lost: 0 }
  const until = performance.now() + MS
  const lane = async () => {
    while (performance.now() < until) counts[(await ask()) ? 'done' : 'lost'] += 1
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  return { perSecond: Math.round((counts.done * 1000) / MS), lost: counts.lost }
}

async function measure(way: Way): Promise<string> {
  const child = spawn(process.execPath, [process.argv[1] ?? '', way], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  await once(child, 'message')
  await load()
  const calm = await load()
  child.send('replace')
  const replaced = await load()
  child.disconnect()
  await once(child, 'exit')
  return `${way.padEnd(12)} ${calm.perSecond} /s, ${calm.lost} lost; while workers are replaced ${replaced.perSecond} /s, ${replaced.lost} lost\n`
}

const way = process.argv[2] as Way | undefined
if (way && cluster.isPrimary) await supervise()
else if (way) serve(way)
else
  for (let round = 0; round < ROUNDS; round += 1)
    for (const each of ['round robin', 'reusePort'] as const) process.stdout.write(await measure(each))
