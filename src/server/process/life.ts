import type { FastifyInstance } from 'fastify'
import { adminSettings } from '../../config/parts.ts'
import type { Config } from '../../config/settings.ts'
import { keepTickShape } from '../../listen/ticks.ts'
import type { Migration } from '../../modes/assemble.ts'
import { whyExposed } from '../../routes/admin/admin.ts'
import { checkAtStart } from '../../rpc/check/check-at-start.ts'
import type { Tables } from '../../tables/tables.ts'
import type { JoinedFleet } from '../join-fleet.ts'
import type { Front } from './front.ts'

/** How a server starts and ends. */
export interface Life {
  /**
   * Starts to listen. Rejects if a port is taken, `records.file` cannot be written, or the facts of gRPC are wrong; then nothing listens.
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
  readonly leaving: AbortController
  /** Logs what is wrong with the rules in force. */
  readonly warn: () => void
  readonly warned: (text: string) => void
  /** Closes what others use until the end. */
  readonly last: () => Promise<unknown>
}

export function createLife(config: Config, living: Living): Life {
  const { tables, front, admin, hasAdmin, migration, joined, leaving, warn, warned, last } = living
  const release = async () => {
    await admin.close()
    front.release()
    await migration.close()
    await joined?.close()
    await last()
  }
  /** Opens both ports, or none of them. A worker opens one. */
  const open = async () => {
    try {
      await front.listen()
      if (hasAdmin) await admin.listen({ host: config['admin.host'], port: config['admin.port'] })
    } catch (error) {
      await front.stop()
      await release()
      throw error
    }
  }
  const leave = async (givesWay: boolean) => {
    leaving.abort()
    await front.retire(givesWay)
    await release()
  }
  return {
    async listen() {
      keepTickShape()
      if (tables.hasGrpc) await checkAtStart(tables.mappings, tables.shapes)
      await migration.restore()
      await joined?.modes.start()
      await open()
      if (!hasAdmin) return
      const exposed = whyExposed(admin, adminSettings(config))
      if (exposed !== undefined) warned(exposed)
      warn()
    },
    close: () => leave(false),
    giveWay: () => leave(true),
  }
}
