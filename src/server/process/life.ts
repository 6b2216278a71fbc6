import type { FastifyInstance } from 'fastify'
import { whyExposed } from '../../admin/admin.ts'
import { adminSettings } from '../../config/parts.ts'
import type { Config } from '../../config/settings.ts'
import { checkAtStart } from '../../grpc/check-at-start.ts'
import type { Migration } from '../../migrate/migration.ts'
import { keepTickShape } from '../../serve/listen/times.ts'
import type { MetricsExport } from '../../serve/watch/metrics-export.ts'
import type { Tables } from '../../tables/tables.ts'
import type { JoinedFleet } from '../join-fleet.ts'
import type { Front } from './front.ts'

/** How a server starts and ends. */
export interface Life {
  /** Makes everything ready to serve, without a port. Rejects as `listen` does. */
  begin(): Promise<void>
  /** Opens the admin port, for a server that opens no port for clients or another time. `listen` does it unless the role has none. */
  openAdmin(): Promise<void>
  /**
   * Starts to listen, after `begin`. Rejects if a port is taken, `records.file` cannot be written, or the facts of gRPC are wrong; then nothing listens.
   */
  listen(): Promise<void>
  /**
   * Leaves the balancer (`limits.drainMs`, `limits.lingerMs`), lets requests finish for `limits.shutdownMs`, then closes every connection.
   */
  close(): Promise<void>
  /** Closes as `close` does, but another process listens in its place, so that no balancer needs time to notice. */
  giveWay(): Promise<void>
}

interface Living {
  readonly tables: Tables
  readonly front: Front
  readonly admin: FastifyInstance
  readonly hasAdmin: boolean
  readonly migration: Migration
  readonly joined: JoinedFleet | undefined
  /** Sends metrics to a collector. */
  readonly exported: MetricsExport | undefined
  readonly leaving: AbortController
  /** Logs what is wrong with the rules in force. */
  readonly warn: () => void
  readonly warned: (text: string) => void
  /** Closes what others use until the end. */
  readonly last: () => Promise<unknown>
}

export function createLife(config: Config, living: Living): Life {
  const { tables, front, admin, hasAdmin, migration, joined, exported, leaving, warn, warned, last } = living
  const release = async () => {
    // The last metrics are read from parts that are closed below.
    await exported?.close()
    await admin.close()
    front.release()
    await migration.close()
    await joined?.close()
    await last()
  }
  const openAdmin = async () => {
    await admin.listen({ host: config['admin.host'], port: config['admin.port'] })
    const exposed = whyExposed(admin, adminSettings(config))
    if (exposed !== undefined) warned(exposed)
    warn()
  }
  const leave = async (givesWay: boolean) => {
    leaving.abort()
    await front.retire(givesWay)
    await release()
  }
  const prepare = async () => {
    keepTickShape()
    if (tables.hasGrpc) await checkAtStart(tables.mappings, tables.shapes)
    await migration.restore()
    await joined?.modes.start()
    await front.ready?.()
  }
  let prepared: Promise<void> | undefined
  const begin = () => {
    prepared ??= prepare()
    return prepared
  }
  return {
    begin,
    openAdmin,
    /** Opens both ports, or none of them. A worker opens one. */
    async listen() {
      await begin()
      try {
        await front.listen()
        if (hasAdmin) await openAdmin()
      } catch (error) {
        await front.stop()
        await release()
        throw error
      }
    },
    close: () => leave(false),
    giveWay: () => leave(true),
  }
}
