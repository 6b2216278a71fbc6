import { z } from 'zod'
import type { Difference } from './difference.ts'
import { type Before, FORMAT, type OperationReport, type Report } from './report.ts'

/** The parts of an older report that a comparison needs. */
const older = z.object({
  format: z.literal(FORMAT),
  generatedAt: z.number(),
  target: z.number(),
  ready: z.boolean(),
  operations: z.array(
    z.object({
      operation: z.string(),
      standing: z.enum(['inside', 'outside', 'inconclusive', 'v1-only', 'unverifiable']),
      n: z.number(),
      bound: z.number(),
      mismatches: z.number(),
      transients: z.number().default(0),
      errors: z.number(),
      differences: z.array(
        z.object({
          key: z.string(),
          state: z.enum(['unexplained', 'transient', 'failed', 'declared', 'noise', 'race', 'open']),
          kind: z.enum(['status', 'missing', 'extra', 'type', 'value', 'order', 'error', 'race', 'inconclusive']),
          where: z.string(),
          code: z.string().optional(),
          findings: z.number(),
        }),
      ),
    }),
  ),
})

export type OlderReport = z.infer<typeof older>

/** Reads the JSON text of an older report, or says in one sentence why it is none. */
export function readOlderReport(text: string): OlderReport | { readonly problem: string } {
  try {
    const read = older.safeParse(JSON.parse(text))
    return read.success ? read.data : { problem: 'it is not a report that crosswalk report --json wrote' }
  } catch (error) {
    return { problem: `it is not JSON: ${(error as Error).message}` }
  }
}

/** States of differences whose end is worth reporting. Noise and races come and go. */
const LASTING: ReadonlySet<Difference['state']> = new Set<Difference['state']>(['unexplained', 'failed', 'declared'])

/** Adds to the report what changed since an older one. */
export function heldAgainst(report: Report, { operations, generatedAt, target, ready }: OlderReport): Report {
  const old = new Map(operations.map((operation) => [operation.operation, operation]))
  const seen = new Set(report.operations.flatMap(({ operation, differences }) => differences.map(({ key }) => `${operation}\n${key}`)))
  const gone = operations.flatMap(({ operation, differences }) =>
    differences
      .filter(({ key, state }) => LASTING.has(state) && !seen.has(`${operation}\n${key}`))
      .map(({ state, kind, where, code, findings }) => ({ operation, state, kind, where, ...(code !== undefined && { code }), findings })),
  )
  return {
    ...report,
    operations: report.operations.map((operation) => withBefore(operation, old.get(operation.operation))),
    against: { generatedAt, target, ready, gone },
  }
}

function withBefore(operation: OperationReport, old: OlderReport['operations'][number] | undefined): OperationReport {
  const known = new Set(old?.differences.map(({ key }) => key))
  const differences = operation.differences.map((one): Difference => (known.has(one.key) ? one : { ...one, isNew: true }))
  return { ...operation, differences, ...(old && { before: beforeOf(old) }) }
}

function beforeOf({ standing, n, bound, mismatches, transients, errors }: Before): Before {
  return { standing, n, bound, mismatches, transients, errors }
}
