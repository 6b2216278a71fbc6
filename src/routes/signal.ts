import type { ServerResponse } from 'node:http'
import { ApiError } from '../errors/api-error.ts'
import { Firing, type Signal } from '../upstream/signal.ts'
import { createDeadlines } from './deadlines.ts'
import { whenOver } from './over.ts'

/**
 * Fires when the client goes away before its answer is complete. Fastify's own `request.signal` fires as soon as a body has been read
 * and cannot be used (packages §2).
 */
export function clientSignal(response: ServerResponse): Signal {
  const signal = new Firing()
  whenOver(response, () => {
    if (!response.writableFinished) signal.abort(new ApiError('CANCELLED', 'the client went away'))
  })
  return signal
}

/** Makes signals that fire when the client goes away, or when the request has taken longer than `deadlineMs` milliseconds. */
export function createRequestSignals(deadlineMs: number): (response: ServerResponse) => Signal {
  const deadlines = createDeadlines(deadlineMs)
  const tooLong = () => new ApiError('DEADLINE_EXCEEDED', `the request took longer than limits.deadlineMs (${deadlineMs}) allows`)
  return (response) => {
    const signal = new Firing()
    const watched = deadlines.watch(() => signal.abort(tooLong()))
    whenOver(response, () => {
      deadlines.forget(watched)
      if (!response.writableFinished) signal.abort(new ApiError('CANCELLED', 'the client went away'))
    })
    return signal
  }
}
