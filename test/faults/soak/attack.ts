import { Worker } from 'node:worker_threads'

/** The number of acts of an attack, by kind. */
export type Acts = Readonly<Record<string, number>>

/**
 * Starts hostile clients on a thread of their own, so that their cost does not delay the clients whose answers are timed.
 * @returns ends the attack, and resolves with its acts when the last one is over
 */
export function attack(url: string, seed: number, perSecond: number): () => Promise<Acts> {
  const worker = new Worker(new URL('./attacker.js', import.meta.url), { workerData: { url, seed, perSecond } })
  return () =>
    new Promise((resolve, reject) => {
      worker.once('error', reject)
      worker.once('message', resolve)
      worker.postMessage('end')
    })
}
