import Fastify, { type FastifyInstance } from 'fastify'
import { ApiError } from '../errors/api-error.ts'
import { asApiError } from '../errors/to-v1.ts'
import type { OperationRow } from '../explain/describe.ts'
import { sendError } from './answer.ts'
import type { Metrics } from './metrics.ts'
import { addMigration, type MigrationSources } from './migration.ts'
import { notFound } from './refusal.ts'
import { addReport, type ReportSources } from './report-page.ts'

export interface AdminSources extends MigrationSources, ReportSources {
  readonly metrics: Metrics
  readonly operations: readonly OperationRow[]
  /** Undefined when requests can be served, else the reason why not. */
  readonly notReady: () => Promise<string | undefined>
}

/** The admin endpoints, on a port of their own so that they are never exposed with the API. */
export function createAdmin({ metrics, operations, notReady, reportNow, ...migration }: AdminSources): FastifyInstance {
  const app = Fastify({ frameworkErrors: (_, __, reply) => sendError(reply, notFound()) })
  app.get('/healthz', async () => ({ status: 'ok' }))
  app.get('/readyz', async (_, reply) => {
    const reason = await notReady()
    return reason === undefined ? { status: 'ok' } : sendError(reply, new ApiError('UNAVAILABLE', reason))
  })
  app.get('/metrics', async (_, reply) => {
    reply.type('text/plain; version=0.0.4; charset=utf-8')
    return metrics.text()
  })
  app.get('/operations', async () => operations)
  addMigration(app, migration)
  addReport(app, { reportNow })
  app.setNotFoundHandler((_, reply) => sendError(reply, notFound()))
  app.setErrorHandler((thrown, _, reply) => sendError(reply, refused(thrown)))
  return app
}

/** A body that the admin port cannot read is the caller's mistake, as Fastify says by its status. */
function refused(thrown: unknown): ApiError {
  const { statusCode = 500, message } = thrown as { statusCode?: number; message?: string }
  return statusCode < 500 && !(thrown instanceof ApiError)
    ? new ApiError('INVALID_ARGUMENT', message ?? 'the request cannot be read')
    : asApiError(thrown)
}
