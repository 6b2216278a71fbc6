import { parentPort, workerData } from 'node:worker_threads'
import { paced, seeded } from '../../../stage/clocks.ts'
import { createHostile } from './clients.ts'

const { url, seed, perSecond } = workerData as { readonly url: string; readonly seed: number; readonly perSecond: number }

const MOB = 200

const hostile = createHostile(url, seeded(seed))
const acts = paced(hostile.act, perSecond, MOB)
const timer = setInterval(acts.startDue, 10)

parentPort?.once('message', async () => {
  clearInterval(timer)
  await acts.settled()
  parentPort?.postMessage(hostile.acts)
})
