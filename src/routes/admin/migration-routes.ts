import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { ApiError } from '../../errors.ts'
import type { FleetEvidence } from '../../fleet/report.ts'
import type { MigrationReport } from '../../migrate/migration.ts'
import type { Notifier } from '../../notify/notifier.ts'
import type { ActorOf } from './actor-of.ts'
import { type FleetAnswers, toldBy } from './fleet/fleet-answers.ts'
import { addReplicas, type ReplicasSources } from './fleet/replicas-route.ts'
import { addModes, type ModesSources } from './modes-routes.ts'
import { addNotify } from './notify-routes.ts'
import { addRollouts, type RolloutSources } from './rollout-routes.ts'

export interface MigrationSources {
  readonly modes: ModesSources['modes'] & RolloutSources['modes']
  readonly warnings: ModesSources['warnings']
  readonly actorOf: ActorOf
  readonly steer?: RolloutSources['steer']
  readonly report: MigrationReport
  /** Absent without `notify.url`. */
  readonly notifier: Pick<Notifier, 'counts' | 'ping'> | undefined
  /** The fleet, if replicas share a store. */
  readonly joined?:
    | (NonNullable<ModesSources['joined']> & ReplicasSources & EvidenceSources & { readonly answers: FleetAnswers })
    | undefined
}

const comparisonsQuery = z.object({
  operation: z.string().min(1).optional(),
  limit: z.coerce.number({ error: 'must be a whole number from 1 to 10000' }).int().min(1).max(10_000).default(100),
})

/** Adds the admin endpoints of a migration: its modes, its rollouts and its report. */
export function addMigration(app: FastifyInstance, sources: MigrationSources): void {
  const { report, notifier, joined } = sources
  addModes(app, sources)
  addRollouts(app, sources)
  if (joined) addReplicas(app, joined)
  addEvidence(app, sources)
  addNotify(app, notifier)
  app.get('/clients', async (_, reply) => (joined ? toldBy(reply, await joined.answers.clients()) : report.clients()))
  app.get('/comparisons', async ({ query }, reply) => {
    const read = comparisonsQuery.safeParse(query)
    if (read.success) return joined ? toldBy(reply, await joined.answers.comparisons(read.data)) : report.comparisons(read.data)
    throw new ApiError('INVALID_ARGUMENT', read.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '))
  })
}

/** What all replicas have counted. */
interface EvidenceSources {
  readonly evidence: Pick<FleetEvidence, 'epochs' | 'report'>
}

function addEvidence(app: FastifyInstance, { report, notifier, joined, actorOf }: MigrationSources): void {
  const evidence = joined?.evidence
  app.get('/evidence', async () => {
    const known = (await evidence?.report.evidence()) ?? report.evidence()
    return { ...known, ...(notifier && { notifications: notifier.counts() }) }
  })
  app.post('/evidence/epoch', async (request) => {
    if (!evidence) throw NO_EPOCHS
    return evidence.epochs.begin(actorOf(request)).catch((error: Error) => {
      throw new ApiError('UNAVAILABLE', `no epoch was begun: ${error.message}`)
    })
  })
}

const NO_EPOCHS = new ApiError(
  'FAILED_PRECONDITION',
  'only replicas that share a store (store.url) have epochs; without one, evidence begins anew with a new records.file',
)
