import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { ApiError } from '../../errors/api-error.ts'
import type { MigrationReport } from '../../modes/migration-report.ts'
import type { Notifier } from '../../notify/notifier.ts'
import type { ActorOf } from './actor-of.ts'
import { addModes, type ModesSources } from './modes-routes.ts'
import { addNotify } from './notify-routes.ts'
import { addRollouts, type RolloutSources } from './rollout-routes.ts'

export interface MigrationSources {
  readonly modes: ModesSources['modes'] & RolloutSources['modes']
  readonly warnings: ModesSources['warnings']
  readonly actorOf: ActorOf
  readonly report: MigrationReport
  /** Absent without `notify.url`. */
  readonly notifier: Pick<Notifier, 'counts' | 'ping'> | undefined
}

const comparisonsQuery = z.object({
  operation: z.string().min(1).optional(),
  limit: z.coerce.number({ error: 'must be a whole number from 1 to 10000' }).int().min(1).max(10_000).default(100),
})

/** Adds the admin endpoints of a migration: its modes, its rollouts and its report. */
export function addMigration(app: FastifyInstance, sources: MigrationSources): void {
  const { report, notifier } = sources
  addModes(app, sources)
  addRollouts(app, sources)
  app.get('/evidence', async () => ({ ...report.evidence(), ...(notifier && { notifications: notifier.counts() }) }))
  addNotify(app, notifier)
  app.get('/clients', async () => report.clients())
  app.get('/comparisons', async ({ query }) => {
    const read = comparisonsQuery.safeParse(query)
    if (read.success) return report.comparisons(read.data)
    throw new ApiError('INVALID_ARGUMENT', read.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '))
  })
}
