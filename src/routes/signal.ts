import type { ServerResponse } from 'node:http'
import { ApiError } from '../errors/api-error.ts'
import { Firing, type Signal } from '../upstream/signal.ts'
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

/** Fires when the client goes away, or when the request has taken longer than `deadlineMs` milliseconds. */
export function requestSignal(response: ServerResponse, deadlineMs: number): Signal {
  const signal = new Firing()
  const tooLong = () =>
    signal.abort(new ApiError('DEADLINE_EXCEEDED', `the request took longer than limits.deadlineMs (${deadlineMs}) allows`))
  const timer = setTimeout(tooLong, deadlineMs)
  whenOver(response, () => {
    clearTimeout(timer)
    if (!response.writableFinished) signal.abort(new ApiError('CANCELLED', 'the client went away'))
  })
  return signal
}
