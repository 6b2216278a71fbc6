import { once } from 'node:events'
import net, { type AddressInfo, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { RestartableProxy } from '../../balancer/processes.ts'
import { until } from '../../stage/until.ts'

/** What of a replica matters to a balancer. */
type Endpoint = Pick<RestartableProxy, 'port' | 'adminUrl'>

/**
 * Passes each new connection to the next endpoint that is ready, as kube-proxy does. A connection stays with its endpoint for as long as both
 * sides keep it, whether or not the endpoint is ready still.
 */
export interface Balancer {
  readonly url: string
  /** Resolves when the endpoint is ready. */
  add(endpoint: Endpoint): Promise<void>
  remove(endpoint: Endpoint): void
  close(): void
}

/** Milliseconds between two questions whether an endpoint is ready. */
const ASKS_EVERY = 50

export async function startBalancer(): Promise<Balancer> {
  const ready = new Map<Endpoint, boolean>()
  const open = new Set<Socket>()
  let turn = 0
  let isOver = false
  const ask = async (endpoint: Endpoint) => {
    const answer = await fetch(`${endpoint.adminUrl}/readyz`).catch(() => undefined)
    await answer?.arrayBuffer().catch(() => {})
    if (ready.has(endpoint)) ready.set(endpoint, answer?.ok ?? false)
  }
  const watch = async () => {
    while (!isOver) {
      await Promise.all([...ready.keys()].map(ask))
      await delay(ASKS_EVERY)
    }
  }
  const server = net.createServer({ allowHalfOpen: true }, (client) => {
    const endpoints = [...ready].flatMap(([endpoint, isReady]) => (isReady ? [endpoint] : []))
    const endpoint = endpoints[turn++ % endpoints.length]
    if (!endpoint) return void client.destroy()
    const onward = net.connect({ port: endpoint.port, host: '127.0.0.1', allowHalfOpen: true })
    for (const [one, other] of [
      [client, onward],
      [onward, client],
    ] as const) {
      open.add(one)
      one.setNoDelay(true)
      one.pipe(other)
      one.on('error', () => void other.resetAndDestroy())
      one.once('close', () => open.delete(one))
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  void watch()
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async add(endpoint) {
      ready.set(endpoint, false)
      await until(async () => ready.get(endpoint), 'the endpoint is ready')
    },
    remove: (endpoint) => void ready.delete(endpoint),
    close() {
      isOver = true
      server.close()
      for (const socket of open) socket.destroy()
    },
  }
}
