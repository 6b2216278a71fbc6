import { type Listening, listen } from '../../examples/resource-manager/server/listen.ts'
import { v1Routes } from '../../examples/resource-manager/server/v1.ts'
import { v3Routes } from '../../examples/resource-manager/server/v3.ts'
import { createWorld } from '../../examples/resource-manager/server/world.ts'
import { tables } from '../../examples/resource-manager/tables.ts'
import type { Config } from '../../src/app/config/settings.ts'
import type { Role, Side, Target } from '../compat/target.ts'
import { startProxy, type TestProxy } from '../stage/proxy.ts'

/** The first version of an example's API, and the proxy before the version that took its place. */
export interface ExampleSides {
  readonly v1: Listening
  readonly proxy: TestProxy
  readonly genuine: Target
  readonly proxied: Target
  readonly close: () => Promise<void>
}

/** Starts both sides over equal data. With `asked`, the proxy compares with the first version. */
export async function startExample({
  slow = 0,
  asked,
}: {
  readonly slow?: number
  readonly asked?: Partial<Config>
} = {}): Promise<ExampleSides> {
  const v1 = await listen(v1Routes(createWorld({ slow })))
  const v3 = await listen(v3Routes(createWorld({ slow })))
  const settings = { 'upstream.v2': v3.url, 'log.level': 'error', ...(asked && { 'upstream.v1': v1.url, ...asked }) } as const
  const proxy = await startProxy(settings, { tables })
  return {
    v1,
    proxy,
    genuine: target(v1.url, 'genuine'),
    proxied: target(proxy.url, 'proxied'),
    close: async () => {
      await proxy.close()
      await Promise.all([v1.close(), v3.close()])
    },
  }
}

function target(url: string, side: Side): Target {
  const token = (role: Role) => (role === 'nobody' ? undefined : role)
  return { url, side, dialect: 'published', organization: '1', token, run: 'suite' }
}
