import type { ServerResponse } from 'node:http'
import { ApiError } from '../../errors.ts'
import { Firing, type Signal } from '../../limits/signal.ts'
import { createDeadlines, type Deadline, type Deadlines } from '../../listen/times/deadlines.ts'
import { type OnClose, whenClosed } from '../../relay/on-close.ts'

/**
 * Fires when the client goes away before its answer is complete.
 * Fastify's `request.signal` is unusable: it fires as soon as a body has been read (design §6.5).
 */
class ClientSignal extends Firing implements OnClose {
  next: OnClose | undefined
  readonly #response: ServerResponse

  constructor(response: ServerResponse) {
    super()
    this.next = undefined
    this.#response = response
    whenClosed(response, this)
  }

  over(): void {
    if (!this.#response.writableFinished) this.abort(new ApiError('CANCELLED', 'the client went away'))
  }
}

export function clientSignal(response: ServerResponse): Signal {
  return new ClientSignal(response)
}

/**
 * Fires when an answer ends, however it ends.
 * If we answer because the client's body did not arrive, the service must not wait for that body.
 */
class AnswerSignal extends Firing implements OnClose {
  next: OnClose | undefined

  constructor(response: ServerResponse) {
    super()
    this.next = undefined
    whenClosed(response, this)
  }

  over(): void {
    this.abort(new ApiError('CANCELLED', 'the answer is over'))
  }
}

export function answerSignal(response: ServerResponse): Signal {
  return new AnswerSignal(response)
}

/** Also fires for a request that takes too long. It is a class because every request has one. */
class RequestSignal extends ClientSignal implements Deadline {
  due: number
  older: Deadline | undefined
  newer: Deadline | undefined
  readonly #deadlines: Deadlines
  readonly #tooLong: () => Error

  constructor(response: ServerResponse, deadlines: Deadlines, tooLong: () => Error) {
    super(response)
    this.due = 0
    this.older = undefined
    this.newer = undefined
    this.#deadlines = deadlines
    this.#tooLong = tooLong
    deadlines.watch(this)
  }

  late(): void {
    this.abort(this.#tooLong())
  }

  override over(): void {
    this.#deadlines.forget(this)
    super.over()
  }
}

/** Creates signals that fire when the client goes away, or when the request exceeds `deadlineMs` milliseconds. */
export function createRequestSignals(deadlineMs: number): (response: ServerResponse) => Signal {
  const deadlines = createDeadlines(deadlineMs)
  const tooLong = () => new ApiError('DEADLINE_EXCEEDED', `the request took longer than limits.deadlineMs (${deadlineMs}) allows`)
  return (response) => new RequestSignal(response, deadlines, tooLong)
}
