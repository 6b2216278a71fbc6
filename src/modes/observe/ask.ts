import type { SeenAnswer } from '../../diff/compare/compare.ts'
import type { Exchanged } from '../../diff/records/exhibit.ts'
import { asApiError, STATUS_FORM } from '../../errors.ts'
import { type TranslateSettings, translated } from '../../serve/answer.ts'
import type { Request } from '../../serve/request.ts'
import type { Side } from '../../serve/sides.ts'
import { type Signal, within } from '../../serve/signals.ts'
import { type AnswerRoom, createAnswerRoom, isExceeded, textOf } from '../../serve/upstream/exchange.ts'
import type { ReadContext, UnsharedReads } from '../../serve/upstream/send.ts'
import type { ReadV1 } from '../../serve/upstream/v1.ts'
import type { Operation, V1Request } from '../../tables/operation.ts'
import { spellings } from '../../tables/query.ts'
import { withPageToken } from '../choose/page-token.ts'
import { drain } from '../serve/tee.ts'
import { type Kept, seenOf } from './captured.ts'

/** One side's answer to a read, and how long it took. */
export interface SideAnswer {
  readonly seen: SeenAnswer
  readonly ms: number
  /** Bytes that were read of it; absent if a client was served with it. */
  readonly bytes?: number
}

/** A read to ask of one side, however it is asked. */
export interface AskedRead extends Pick<Request, 'operation' | 'read'> {
  /** A page token of that side's own. */
  readonly token?: string | undefined
  /** Receives every call to v2 and its answer. */
  readonly tap?: ((exchanged: Exchanged) => void) | undefined
}

/** A read to ask of one service. */
export type Asking = AskedRead & Request

/** Asks one side for a read. Never throws: a failure is an answer of that side too. */
export type Ask<Read extends AskedRead = Asking> = (side: Side, asking: Read, signal: Signal) => Promise<SideAnswer>

export interface AskSettings {
  readonly readV1: ReadV1
  /** Reads of v2 that are not shared. */
  readonly unsharedReads: UnsharedReads
  readonly translate: TranslateSettings
  /** Milliseconds in which a side must answer. */
  readonly deadlineMs: number
  /** Largest answer that is compared, in bytes: v1's own, and all of v2's for one request together. */
  readonly limit: number
}

export function createAsk({ readV1, unsharedReads, translate: settings, deadlineMs, limit }: AskSettings): Ask {
  const sides: Readonly<Record<Side, (asking: Asking, bounds: Bounds) => Promise<Kept>>> = {
    async v1({ operation, raw, token }, { signal, onCall }) {
      onCall()
      const asked = plain(token === undefined ? raw : { ...raw, url: withPageToken(operation, raw.url, token) })
      return readV1(asked, limit, signal)
    },
    async v2({ operation, raw, read, token, tap }, { signal, room, onCall }) {
      const onAnswer = tap && telling(tap)
      const send = unsharedReads({ headers: raw.headers, requestId: raw.id, signal, room, onCall, onAnswer })
      const request = token === undefined ? read() : paged(operation, read(), token)
      return drain(await translated(operation, request, send, settings), limit)
    },
  }
  return async (side, asking, signal) => {
    const began = performance.now()
    const over = within(signal, deadlineMs, tooLate)
    const room = createAnswerRoom(limit)
    let unasked = true
    const onCall = () => {
      unasked = false
      return undefined
    }
    try {
      const kept = await sides[side](asking, { signal: over.signal, room, onCall }).catch((thrown) => asAnswer(thrown, settings))
      const seen = await seenOf(isExceeded(room) ? cutOff(kept) : kept, limit)
      const bytes = Math.max(limit - Math.max(0, room.left), isWhole(kept) ? kept.size : limit)
      return { seen: { ...seen, ...(unasked && { unasked }) }, ms: Math.round(performance.now() - began), bytes }
    } finally {
      over.end()
    }
  }
}

interface Bounds {
  readonly signal: Signal
  readonly room: AnswerRoom
  readonly onCall: () => undefined
}

function isWhole({ body }: Kept): boolean {
  return !('pieces' in body) || body.pieces !== undefined
}

/** What the tables made of an answer that was broken off says nothing. */
function cutOff({ status, headers }: Kept): Kept {
  return { status, headers, body: { pieces: undefined, broken: false }, size: 0 }
}

const tooLate = () => new DOMException('the asked side did not answer in time', 'TimeoutError')

/** Passes on each call and its answer as JSON, before the plan reads it in its own way. */
function telling(tap: NonNullable<Asking['tap']>): ReadContext['onAnswer'] {
  return (call, { status, pieces }) => {
    try {
      tap({ call, status, body: JSON.parse(textOf(pieces)) })
    } catch {
      tap({ call, status, body: null })
    }
  }
}

/** Asks for an uncompressed answer, because only this process reads it. */
function plain(raw: Request['raw']): Request['raw'] {
  return { ...raw, headers: { ...raw.headers, 'accept-encoding': 'identity' } }
}

function asAnswer(thrown: unknown, { errors: { write } = STATUS_FORM }: TranslateSettings): Kept {
  const { http, code, message } = asApiError(thrown)
  const { status, body } = write({ code, http, message, details: [] })
  return { status, headers: {}, body: { value: body }, size: 0 }
}

function paged({ paging }: Operation, request: V1Request, token: string): V1Request {
  if (paging === undefined) return request
  const others = [...request.query].filter(([name]) => !spellings(paging.parameter).includes(name))
  return { ...request, query: new Map([...others, [paging.parameter, [token]]]) }
}
