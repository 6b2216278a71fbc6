import { spawnSync } from 'node:child_process'
import net, { type AddressInfo } from 'node:net'
import { type Child, LOAD_CORE, start } from '../child.ts'

export function hasRedis(): boolean {
  return spawnSync('redis-server', ['--version']).status === 0
}

export interface BenchRedis extends Child {
  /** For `store.url`. */
  readonly store: string
  freeze(): void
}

/** Starts a Redis that keeps nothing on disk, on the core of the load. */
export async function startRedis(): Promise<BenchRedis> {
  const port = await freePort()
  const serve = 'exec redis-server --port "$0" --bind 127.0.0.1 --save "" >/dev/null'
  const child = await start(LOAD_CORE, ['sh', '-c', `echo "http://127.0.0.1:$0"; ${serve}`, String(port)])
  return {
    ...child,
    store: `redis://127.0.0.1:${port}`,
    freeze: () => void process.kill(child.pid, 'SIGSTOP'),
    async stop() {
      process.kill(child.pid, 'SIGCONT')
      await child.stop()
    },
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = net.createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}
