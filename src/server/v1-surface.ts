import type { FastifyInstance } from 'fastify'
import { late } from '../config/live/late.ts'
import { announcement, callTimes, compatSettings } from '../config/parts.ts'
import type { Config } from '../config/settings.ts'
import type { Room } from '../serve/bounds.ts'
import { type Core, createCore } from '../serve/core.ts'
import { type Announce, createAnnounce } from '../serve/http/app.ts'
import { createV1Carrier } from '../serve/http/carriers.ts'
import type { Forwarded } from '../serve/http/forwarded.ts'
import { type Compat, createCompat } from '../serve/http/v1-surface.ts'
import { createSend } from '../serve/upstream/send.ts'
import { operationsOf, type Tables } from '../tables/tables.ts'
import type { ProxyParts } from './proxy-parts.ts'

/** The share of the connections to v2 that long lists may take. The rest is for requests with a waiting client. */
const BULK_SHARE = 3 / 4

interface V1Parts extends Pick<ProxyParts, 'pool' | 'migration' | 'metrics' | 'tracing'> {
  readonly forwarded: Forwarded
  readonly room: Room
}

/** What serves v1 requests, and what their answers announce. */
export interface V1Surface {
  readonly announce: Announce
  /** Serves v1, whatever the protocol. */
  readonly core: Core
  /** Serves v1 over HTTP. */
  readonly compat: Compat
}

export function createV1Surface(
  app: FastifyInstance,
  config: Config,
  v2: string,
  tables: Tables,
  { pool, migration, metrics, tracing, forwarded, room }: V1Parts,
): V1Surface {
  const operations = operationsOf(tables)
  const keep = late(config, { entries: 'keep.entries', ttlMs: 'keep.ttlMs' })
  const bulkCalls = Math.ceil(config['upstream.connections'] * BULK_SHARE)
  const sendFor = createSend({
    pool,
    base: v2,
    times: callTimes(config),
    answerBytes: config['limits.answerBytes'],
    keep,
    bulkCalls,
    errors: tables.errors,
  })
  const base = config['upstream.v1']
  const v1 =
    base === undefined
      ? undefined
      : createV1Carrier(app, pool, { base, answerMs: config['limits.deadlineMs'], unrelayable: () => metrics.unrelayable('v1') })
  const announce = createAnnounce(app, announcement(config))
  const settings = compatSettings(config, tables)
  const { endCall } = metrics
  const core = createCore({ operations, sendFor, modes: migration.modes, endCall, hasV1: v1 !== undefined, settings })
  const { limits } = settings
  return { announce, core, compat: createCompat({ core, v1, forwarded, announced: announce.headers, tracing, room, limits }) }
}
