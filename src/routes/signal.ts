import type { ServerResponse } from 'node:http'
import { ApiError } from '../errors/api-error.ts'

/**
 * Fires when the client goes away before its answer is complete. Fastify's own `request.signal` fires as soon as a body has been read
 * and cannot be used (packages §2).
 */
export function clientSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController()
  response.once('close', () => {
    if (!response.writableFinished) gone.abort(new ApiError('CANCELLED', 'the client went away'))
  })
  return gone.signal
}

/** Fires when the client goes away, or when the request has taken longer than `deadlineMs` milliseconds. */
export function requestSignal(response: ServerResponse, deadlineMs: number): AbortSignal {
  const over = new AbortController()
  const message = `the request took longer than limits.deadlineMs (${deadlineMs}) allows`
  const timer = setTimeout(() => over.abort(new ApiError('DEADLINE_EXCEEDED', message)), deadlineMs)
  response.once('close', () => {
    clearTimeout(timer)
    if (!response.writableFinished) over.abort(new ApiError('CANCELLED', 'the client went away'))
  })
  return over.signal
}
