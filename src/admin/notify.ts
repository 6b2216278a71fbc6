import { createHmac, randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { systemReason } from '../errors.ts'
import { many } from '../migrate/evidence/evidence.ts'
import type { Note } from '../migrate/records/record.ts'
import { FROM_CROSSWALK } from '../serve/http/forwarded.ts'
import { Agent } from '../serve/upstream/undici.ts'
import { viewLink } from './report-page.ts'

const FIRST_MS = 1000

/** The longest pause that Crosswalk chooses, and the longest that a receiver may ask for. */
export const LONGEST_MS = { own: 300_000, asked: 3_600_000 }

/**
 * Returns how long to wait after so many failed attempts in a row: 1 s, 2 s, 4 s and so on up to 5 minutes, each of them shortened by up
 * to a half at random. Many replicas would otherwise come back at once. `random` gives 0 up to 1.
 */
export function pauseAfter(failures: number, random: () => number): number {
  const whole = Math.min(LONGEST_MS.own, FIRST_MS * 2 ** (failures - 1))
  return Math.round(whole * (1 - random() / 2))
}

/**
 * Returns the milliseconds that a `Retry-After` header asks for (RFC 9110 §10.2.3): seconds or a date. At most one hour: a receiver that is
 * wrong by a year would stop all events.
 */
export function askedPause(header: string | undefined, nowMs: number): number {
  if (header === undefined) return 0
  const asked = /^\d+$/.test(header) ? 1000 * Number(header) : /^[A-Z][a-z]/.test(header) ? Date.parse(header) - nowMs : 0
  return asked > 0 ? Math.min(asked, LONGEST_MS.asked) : 0
}

/** What an attempt led to. */
type Outcome =
  | { readonly end: 'sent' }
  | { readonly end: 'refused' | 'gone'; readonly problem: string }
  | { readonly end: 'again'; readonly problem: string; readonly askedMs: number }

/** Sends events to one receiver, one after the other. The signal aborts when the proxy ends: no pause and no second attempt from then on. */
function createDelivery({ receiver, sign, attempts, now, random, pause, warn }: NotifierSettings, signal: AbortSignal) {
  /** Failed attempts in a row, of whichever events: the pauses grow as long as the receiver is away. */
  let failures = 0
  let restMs = 0
  let triedAt = 0
  let isOver = false
  let problem: string | undefined

  const attempt = async ({ id, body }: WaitingEvent): Promise<Outcome> => {
    try {
      return outcomeOf(await receiver.post(sign(id, body, now()), body), now())
    } catch (error) {
      return { end: 'again', problem: systemReason(error), askedMs: 0 }
    }
  }
  const count = (outcome: Outcome) => {
    problem = outcome.end === 'sent' ? undefined : `${receiver.origin} ${outcome.problem}`
    failures = outcome.end === 'again' ? failures + 1 : 0
    restMs = outcome.end === 'again' ? Math.max(pauseAfter(failures, random), outcome.askedMs) : 0
    triedAt = now()
    if (outcome.end === 'gone') isOver = true
  }
  return {
    /** Resolves when the event was taken, was refused, or must not be sent. Never rejects. */
    async deliver(event: WaitingEvent): Promise<'sent' | 'failed' | 'dropped'> {
      const name = `${event.type} ${event.id}`
      for (let nth = 1; nth <= attempts; nth += 1) {
        const leftMs = restMs - Math.max(0, now() - triedAt)
        if (leftMs > 0) await pause(leftMs, signal)
        if (isOver) return 'dropped'
        const outcome = await attempt(event)
        if (isOver) return 'dropped'
        count(outcome)
        if (outcome.end === 'sent') return 'sent'
        if (outcome.end === 'gone') warn(`${problem}: no notification is sent any more until the next start`)
        if (outcome.end === 'refused') warn(`${problem}: the notification ${name} is lost`)
        if (outcome.end !== 'again') return 'failed'
        if (signal.aborted) return 'dropped'
        if (failures === 1 && nth < attempts) warn(`${problem}: the notification is sent again, ${attempts} times in all`)
      }
      warn(`${problem}: the notification ${name} is lost after ${many(attempts, 'attempt')}`)
      return 'failed'
    },
    /** True if nothing is sent any more. */
    isOver: () => isOver,
    /** Why the last attempt failed; undefined if it did not. */
    problem: () => problem,
    /** Breaks off what is under way and sends nothing more. */
    giveUp() {
      isOver = true
      void receiver.close()
    },
  }
}

/** 429 and 5xx may pass. A receiver that answers 410 wants no more (CloudEvents, HTTP 1.1 Web Hooks 1.0.2). No other answer changes by repeating. */
function outcomeOf({ status, retryAfter }: Receipt, nowMs: number): Outcome {
  const problem = `answers HTTP ${status}`
  if (status >= 200 && status < 300) return { end: 'sent' }
  if (status === 410) return { end: 'gone', problem }
  if (status === 429 || status >= 500) return { end: 'again', problem, askedMs: askedPause(retryAfter, nowMs) }
  return { end: 'refused', problem }
}

type What = Note['what']

/** The type of the event that `POST /notify/test` sends. No note has it. */
export const PING = 'crosswalk.ping'

/** One type of event. docs/reference/events.md lists these rows. */
interface EventType {
  readonly type: string
  /** The sentence of the documentation: what has happened. */
  readonly means: string
}

const row = (type: string, means: string): EventType => ({ type, means })

/** The type of a note that concerns one operation, one rollout, or the proxy as a whole. */
export const EVENT_TYPES: Readonly<Record<What, EventType>> = {
  circuit: row('crosswalk.circuit.opened', 'The circuit of an operation opened: its canary share is 0'),
  'circuit-closed': row(
    'crosswalk.circuit.closed',
    'The circuit of an operation closed: probes proved v2, it was closed by hand, or the modes changed',
  ),
  modes: row('crosswalk.modes.changed', 'The rules of modes changed'),
  rollout: row('crosswalk.rollout.moved', 'A rollout advanced, paused, turned back or ended'),
  ready: row('crosswalk.operation.ready', 'The evidence of an operation is inside the target: v2 may answer it'),
  'not-ready': row('crosswalk.operation.unready', 'An operation was ready and is no longer'),
  epoch: row('crosswalk.evidence.epoch', 'A person began another epoch: what was seen before proves nothing any more'),
  'store-lost': row(
    'crosswalk.store.lost',
    'The store came back without what it knew: the verdict is inconclusive until a person begins an epoch',
  ),
  'records-lost': row('crosswalk.records.lost', 'The record file is written again, after it lost records: a restart misses them'),
  conflict: row('crosswalk.modes.conflict', 'Two changes of the modes had one version, after the store lost writes: one of them is lost'),
  clock: row(
    'crosswalk.clock.compared',
    'The clock of v2, v1 or the store differs from that of this machine by more than a minute, or agrees again',
  ),
  acceptance: row(
    'crosswalk.cutover.acceptance',
    'A person accepted operations without proof until a date (`cutover.operations`), or that is over',
  ),
  restart: row('crosswalk.proxy.restarted', 'The proxy started and read its records back'),
}

/** The type of a note about the whole verdict, which names no operation. */
export const WHOLE_TYPES: Partial<Readonly<Record<What, EventType>>> = {
  ready: row(
    'crosswalk.cutover.ready',
    'All requests together are proven, and each operation was seen to work often enough: `crosswalk cutover` exits with 0',
  ),
  'not-ready': row('crosswalk.cutover.unready', 'The answer of `crosswalk cutover` is no longer yes'),
}

function typeOf({ what, operation }: Pick<Note, 'what' | 'operation'>): string {
  return ((operation === undefined ? WHOLE_TYPES[what] : undefined) ?? EVENT_TYPES[what]).type
}

/** What an event tells: the note, without its place in a record file. A note holds no credential and no text of a request. */
interface NotificationData extends Omit<Note, 'kind' | 'id' | 'at'> {
  /** The address of the page that shows it, if `admin.publicUrl` is set. */
  readonly page?: string
}

/** An event in the JSON format of CloudEvents 1.0.2. */
interface Notification {
  readonly specversion: '1.0'
  /** The id of the note, the same in each attempt: a receiver that has seen it may ignore the event. */
  readonly id: string
  /** Absolute URI of this proxy. */
  readonly source: string
  readonly type: string
  /** The operation or the rollout that changed; absent if the whole proxy did. */
  readonly subject?: string
  /** When it happened, RFC 3339. */
  readonly time: string
  readonly datacontenttype: 'application/json'
  readonly data: NotificationData | PingData
}

interface PingData {
  readonly what: 'ping'
  readonly text: string
}

/** Characters of one text. Rules of modes may have any length, and a receiver need not accept more than a few kilobytes. */
const LONGEST = 4000

/** Returns the event that tells of a note. `page` is the address of the report page, if people know one. */
export function notificationOf(
  { kind: _, nth: __, id, at, ...data }: Note & { readonly id: string },
  source: string,
  page?: string,
): Notification {
  const { operation, rollout, text, from, to } = data
  const subject = operation ?? rollout
  return {
    ...{ specversion: '1.0', id, source, type: typeOf(data), ...(subject !== undefined && { subject }), time: at },
    datacontenttype: 'application/json',
    data: {
      ...{ ...data, text: cut(text) },
      ...(from !== undefined && { from: cut(from) }),
      ...(to !== undefined && { to: cut(to) }),
      ...(page !== undefined && { page: viewLink(page, operation) }),
    },
  }
}

/** Returns the event by which a person tries the receiver. */
export function pingOf(id: string, at: string, source: string): Notification {
  const data: PingData = { what: 'ping', text: 'This event is a test. Nothing has changed.' }
  return { specversion: '1.0', id, source, type: PING, time: at, datacontenttype: 'application/json', data }
}

function cut(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text
}

/** An event that waits for the receiver. */
interface WaitingEvent {
  readonly id: string
  readonly type: string
  readonly body: string
  /** Is called when it was taken, refused or given up, but not if the proxy ended before. */
  readonly ended?: (() => void) | undefined
}

/** The events that wait, oldest first. The newest stay if there is no room: they say how things stand now. */
class Outbox {
  readonly #room: NotifierSettings['room']
  #waiting: WaitingEvent[] = []
  #bytes = 0

  constructor(room: NotifierSettings['room']) {
    this.#room = room
  }

  get size(): number {
    return this.#waiting.length
  }

  /** Adds an event. Returns how many of the oldest had to make room for it; itself among them if it alone is too large. */
  add(event: WaitingEvent): number {
    this.#waiting.push(event)
    this.#bytes += Buffer.byteLength(event.body)
    let dropped = 0
    for (; this.size > this.#room.events || this.#bytes > this.#room.bytes; dropped += 1) this.take()?.ended?.()
    return dropped
  }

  /** Removes the oldest event and returns it. */
  take(): WaitingEvent | undefined {
    const event = this.#waiting.shift()
    if (event) this.#bytes -= Buffer.byteLength(event.body)
    return event
  }

  /** Removes all. Returns how many there were. */
  clear(): number {
    const left = this.size
    this.#waiting = []
    this.#bytes = 0
    return left
  }
}

/** What became of the events since the start. */
export interface NotifyCounts {
  /** The receiver took them. */
  readonly sent: number
  /** The receiver refused them, or every attempt failed. */
  readonly failed: number
  /** They were never tried to the end: there was no room, the receiver is gone (410), or the proxy ended. */
  readonly dropped: number
  /** They wait, or one of them is being sent. */
  readonly waiting: number
  /** Why the last attempt failed, if it did. */
  readonly problem?: string
}

export interface NotifierSettings {
  readonly receiver: Receiver
  readonly sign: SignAttempt
  /** Attempts for one event. */
  readonly attempts: number
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Gives 0 up to 1. */
  readonly random: () => number
  /** Resolves after so many milliseconds, and at once when the signal aborts. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>
  /** Reports what an operator must know. */
  readonly warn: (text: string) => void
  /** Absolute URI of this proxy. */
  readonly source: string
  /** The address of the report page, if people know one. */
  readonly page?: string | undefined
  /** How many events may wait, and how many bytes. */
  readonly room: { readonly events: number; readonly bytes: number }
  /** Milliseconds that a shutdown waits for the receiver. */
  readonly closingMs?: number
}

/** A thousand events are more than a person reads; they take some hundred kilobytes. */
export const ROOM = { events: 1000, bytes: 2 ** 22 }

const CLOSING_MS = 3000

export type Notifier = ReturnType<typeof createNotifier>

/** Sends an event for each note. No method waits but `close`. */
export function createNotifier(settings: NotifierSettings) {
  const { source, page, room, receiver, now, warn, closingMs = CLOSING_MS } = settings
  const outbox = new Outbox(room)
  const closing = new AbortController()
  const delivery = createDelivery(settings, closing.signal)
  const count = { sent: 0, failed: 0, dropped: 0 }
  let pumping: Promise<void> | undefined
  let inHand = 0
  let isFull = false

  const pump = async () => {
    // The request that made the note has its answer first.
    await setImmediate()
    for (let event = outbox.take(); event; event = outbox.take()) {
      inHand = 1
      const end = await delivery.deliver(event)
      inHand = 0
      count[end] += 1
      if (end !== 'dropped') event.ended?.()
      if (end === 'sent') isFull = false
      if (delivery.isOver()) count.dropped += outbox.clear()
    }
    pumping = undefined
  }
  const add = (event: Notification, ended?: () => void) => {
    if (delivery.isOver()) {
      count.dropped += 1
      return
    }
    const dropped = outbox.add({ id: event.id, type: event.type, body: JSON.stringify(event), ended })
    count.dropped += dropped
    if (dropped > 0 && !isFull) {
      isFull = true
      warn(`too many notifications wait for ${receiver.origin}: the oldest are dropped until it takes one`)
    }
    pumping ??= pump()
  }
  return {
    /** `ended` is called when the receiver has the event or never gets it, but not if the proxy ends before. */
    tell: (note: Note & { readonly id: string }, ended?: () => void): void => add(notificationOf(note, source, page), ended),
    /** Sends an event that means nothing. Returns its id. */
    ping(): string {
      const id = randomUUID()
      add(pingOf(id, new Date(now()).toISOString(), source))
      return id
    },
    counts(): NotifyCounts {
      const problem = delivery.problem()
      return { ...count, waiting: outbox.size + inHand, ...(problem !== undefined && { problem }) }
    },
    /** Tries once more what waits, for three seconds at most. What is left then is lost, and the log says so. */
    async close(): Promise<void> {
      const before = count.failed + count.dropped
      closing.abort()
      const timer = setTimeout(delivery.giveUp, closingMs)
      await pumping
      clearTimeout(timer)
      await receiver.close()
      const lost = count.failed + count.dropped - before
      if (lost > 0)
        warn(`${many(lost, 'notification')} did not reach ${receiver.origin} before the end and ${lost === 1 ? 'is' : 'are'} lost`)
    },
  }
}

/** The answer of a receiver. Its body is not kept. */
interface Receipt {
  readonly status: number
  readonly retryAfter?: string
}

/** Bytes of an answer's body that are read, so that its connection can be used again. */
const ANSWER_BYTES = 16 * 1024

/** The service at `notify.url`. */
type Receiver = ReturnType<typeof createReceiver>

/**
 * Sends events over one connection of its own, so that a receiver that hangs holds nothing else up. Redirects are not followed. `expire`
 * returns a signal that aborts after so many milliseconds.
 */
export function createReceiver(address: string, timeoutMs: number, expire: (ms: number) => AbortSignal = AbortSignal.timeout) {
  const { origin, pathname, search } = new URL(address)
  const agent = new Agent({ connections: 1, headersTimeout: timeoutMs, bodyTimeout: timeoutMs, connect: { timeout: timeoutMs } })
  return {
    /** Scheme, host and port: all that may be shown, because path and query may hold a token. */
    origin,
    /** Sends one event. Rejects with a sentence that lacks its subject, the receiver, if no answer arrives in time. */
    async post(headers: SignedHeaders, body: string): Promise<Receipt> {
      const signal = expire(timeoutMs)
      try {
        const request = { origin, path: pathname + search, method: 'POST', body, signal } as const
        const answer = await agent.request({ ...request, headers: { ...headers, ...FIXED } })
        await answer.body.dump({ limit: ANSWER_BYTES, signal }).catch(() => {})
        const retryAfter = answer.headers['retry-after']
        return { status: answer.statusCode, ...(typeof retryAfter === 'string' && { retryAfter }) }
      } catch (thrown) {
        throw new Error(
          signal.aborted ? `does not answer within notify.timeoutMs (${timeoutMs})` : `cannot be reached: ${systemReason(thrown)}`,
        )
      }
    },
    /** Breaks off what is under way. */
    close: (): Promise<void> => agent.destroy(),
  }
}

/** The content type is that of CloudEvents in structured mode (HTTP Protocol Binding 1.0.2). */
const FIXED = { 'content-type': 'application/cloudevents+json', 'user-agent': 'crosswalk-notify', ...FROM_CROSSWALK }

/** The headers that identify and sign one attempt (Standard Webhooks 1.0.0). */
interface SignedHeaders {
  readonly 'webhook-id': string
  /** Seconds since 1970. */
  readonly 'webhook-timestamp': string
  /** `v1,` and the signature in base64; one for each secret, with spaces between them. */
  readonly 'webhook-signature': string
}

/** Signs an attempt. The time is that of the attempt, so that a receiver can refuse an old one that somebody sends again. */
type SignAttempt = (id: string, body: string, nowMs: number) => SignedHeaders

/** The prefix of a symmetric secret. */
export const PREFIX = 'whsec_'

/** Signs with each of these secrets, so that a receiver which knows one of them can verify: `whsec_` and 24 to 64 bytes in base64. */
export function createSign(secrets: readonly string[]): SignAttempt {
  const keys = secrets.map((secret) => Buffer.from(secret.slice(PREFIX.length), 'base64'))
  return (id, body, nowMs) => {
    const seconds = String(Math.floor(nowMs / 1000))
    const signatures = keys.map((key) => `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`)
    return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': signatures.join(' ') }
  }
}
