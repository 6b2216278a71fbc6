import { parentPort, workerData } from 'node:worker_threads'
import { seeded } from '../../../stage/clocks.ts'
import { createHostile } from './clients.ts'

const { url, seed, perSecond } = workerData as { readonly url: string; readonly seed: number; readonly perSecond: number }

/** The number of parallel acts. */
const MOB = 200

const hostile = createHostile(url, seeded(seed))
const pending = new Set<Promise<void>>()
const begun = performance.now()
let acts = 0
const timer = setInterval(() => {
  for (; acts < ((performance.now() - begun) / 1000) * perSecond; acts++) {
    if (pending.size >= MOB) continue
    const act = hostile.act()
    pending.add(act)
    void act.finally(() => pending.delete(act))
  }
}, 10)

parentPort?.once('message', async () => {
  clearInterval(timer)
  await Promise.all(pending)
  parentPort?.postMessage(hostile.acts)
})
