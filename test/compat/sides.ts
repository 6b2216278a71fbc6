import { mappings } from '../../mappings/index.ts'
import { configWith } from '../../src/config.ts'
import { type Sandbox, startSandbox } from '../../src/sandbox/start.ts'
import { createServer } from '../../src/server.ts'
import type { Dialect } from './spell.ts'
import type { Role, Side, Target } from './target.ts'

/** Both sides of the contract in one dialect: a native v1, and the proxy before the v2 of another sandbox with the same data. */
export interface Sides {
  readonly native: Target
  readonly proxied: Target
  readonly close: () => Promise<void>
}

const START = Date.UTC(2026, 4, 1, 12)

/** Starts both sides on free ports. Their clocks stand still but for one second before each request, so that both tell the same time. */
export async function startSides(dialect: Dialect): Promise<Sides> {
  const [native, nativeClock] = await sandbox(dialect)
  const [behind, proxiedClock] = await sandbox(dialect)
  const config = configWith({ 'upstream.v2': behind.url, 'listen.port': 0, 'admin.port': 0, 'v1.dialect': dialect, 'log.level': 'error' })
  const proxy = createServer(config, mappings)
  await proxy.listen()
  return {
    native: target(native.url, 'native', dialect, native, nativeClock),
    proxied: target(proxy.url, 'proxied', dialect, behind, proxiedClock),
    close: async () => {
      await proxy.close()
      await Promise.all([native.close(), behind.close()])
    },
  }
}

interface Clock {
  now: number
}

async function sandbox(dialect: Dialect): Promise<[Sandbox, Clock]> {
  const clock = { now: START }
  return [await startSandbox({ port: 0, v1Dialect: dialect, now: () => clock.now }), clock]
}

function target(url: string, side: Side, dialect: Dialect, { organization, tokens }: Sandbox, clock: Clock): Target {
  const token = (role: Role) => (role === 'nobody' ? undefined : role === 'stranger' ? 'no-such-token' : tokens[role])
  const tick = () => {
    clock.now += 1000
  }
  return { url, side, dialect, organization, token, run: 'suite', tick }
}
