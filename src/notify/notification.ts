import type { Note } from '../migrate/records/record.ts'
import { PING, typeOf } from './event-types.ts'

/** What an event tells: the note, without its place in a record file. A note holds no credential and no text of a request. */
export type NotificationData = Omit<Note, 'kind' | 'id' | 'at'>

/** An event in the JSON format of CloudEvents 1.0.2. */
export interface Notification {
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

/** Returns the event that tells of a note. */
export function notificationOf({ kind: _, nth: __, id, at, ...data }: Note & { readonly id: string }, source: string): Notification {
  const { operation, rollout, text, from, to } = data
  const subject = operation ?? rollout
  return {
    ...{ specversion: '1.0', id, source, type: typeOf(data), ...(subject !== undefined && { subject }), time: at },
    datacontenttype: 'application/json',
    data: {
      ...{ ...data, text: cut(text) },
      ...(from !== undefined && { from: cut(from) }),
      ...(to !== undefined && { to: cut(to) }),
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
