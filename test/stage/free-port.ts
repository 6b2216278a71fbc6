import { createServer } from 'node:net'

/** Ports below those that systems give to outgoing connections, so that none of these takes one while a process restarts. */
const LOWEST = 20_000
const HIGHEST = 32_000

/** Returns a port of this machine that nobody listens on, for a process that listens on it again after a restart. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST))
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((done) => {
    const server = createServer().once('error', () => done(false))
    server.listen(port, '127.0.0.1', () => server.close(() => done(true)))
  })
}
