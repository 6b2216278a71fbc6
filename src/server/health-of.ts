import type { Agent } from 'undici'
import type { Config } from '../config/settings.ts'
import { createHealth, type Health, ping } from '../serve/upstream/health.ts'
import type { Tables } from '../tables/tables.ts'

/** Returns what asks v2, and v1 if there is one, whether they are well. */
export function healthOf(config: Config, v2: string, pool: Agent, { probes }: Pick<Tables, 'probes'>): () => Promise<Health> {
  const bases = { v2, v1: config['upstream.v1'] }
  return createHealth(
    bases,
    (service, base) => ping(pool, service, base, probes?.[service]),
    () => performance.now(),
  )
}
