import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { ApiError } from '../../errors/api-error.ts'
import { idleRules } from '../../modes/choose/idle-rules.ts'
import type { MigrationReport } from '../../modes/migration-report.ts'
import type { Modes } from '../../modes/modes.ts'
import { isObject } from '../../tables/json.ts'

export interface MigrationSources {
  readonly modes: Pick<Modes, 'state' | 'change'>
  readonly report: MigrationReport
}

const comparisonsQuery = z.object({
  operation: z.string().min(1).optional(),
  limit: z.coerce.number({ error: 'must be a whole number from 1 to 10000' }).int().min(1).max(10_000).default(100),
})

/** Adds the admin endpoints of a migration: its modes and its report. Rules may name the ids in `operations`. */
export function addMigration(app: FastifyInstance, { modes, report }: MigrationSources, operations: readonly string[]): void {
  app.get('/modes', async () => {
    const circuits = report.openCircuits()
    return { ...modes.state().rules, ...(Object.keys(circuits).length > 0 && { circuits }) }
  })
  app.put('/modes', async ({ body }) => {
    const problem = modes.change(rulesIn(body), { source: 'admin' })
    if (problem !== undefined) throw new ApiError('INVALID_ARGUMENT', problem)
    const { rules } = modes.state()
    const warnings = idleRules(rules, operations)
    return { ...rules, ...(warnings.length > 0 && { warnings }) }
  })
  app.get('/evidence', async () => report.evidence())
  app.get('/clients', async () => report.clients())
  app.get('/comparisons', async ({ query }) => {
    const read = comparisonsQuery.safeParse(query)
    if (read.success) return report.comparisons(read.data)
    throw new ApiError('INVALID_ARGUMENT', read.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '))
  })
}

/** Leaves out what answers add to the rules, so that an answer can be changed and sent back. */
function rulesIn(body: unknown): unknown {
  if (!isObject(body)) return body
  const { circuits: _, warnings: __, ...rules } = body
  return rules
}
