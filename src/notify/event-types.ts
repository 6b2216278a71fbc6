import type { Note } from '../migrate/records/record.ts'

type What = Note['what']

/** The type of the event that `POST /notify/test` sends. No note has it. */
export const PING = 'crosswalk.ping'

/** One type of event. docs/operations.md lists these rows. */
export interface EventType {
  readonly type: string
  /** The sentence of the documentation: what has happened. */
  readonly means: string
}

const row = (type: string, means: string): EventType => ({ type, means })

/** The type of a note that concerns one operation, one rollout, or the proxy as a whole. */
export const EVENT_TYPES: Readonly<Record<What, EventType>> = {
  circuit: row('crosswalk.circuit.opened', 'The circuit of an operation opened: its canary share is 0'),
  'circuit-closed': row('crosswalk.circuit.closed', 'The circuit of an operation closed: probes proved v2, or the modes changed'),
  modes: row('crosswalk.modes.changed', 'The rules of modes changed'),
  rollout: row('crosswalk.rollout.moved', 'A rollout advanced, paused, turned back or ended'),
  ready: row('crosswalk.operation.ready', 'The evidence of an operation is inside the target: v2 may answer it'),
  'not-ready': row('crosswalk.operation.unready', 'An operation was ready and is no longer'),
  epoch: row('crosswalk.evidence.epoch', 'A person began another epoch: what was seen before proves nothing any more'),
  conflict: row('crosswalk.modes.conflict', 'Two changes of the modes had one version, after the store lost writes: one of them is lost'),
  restart: row('crosswalk.proxy.restarted', 'The proxy started and read its records back'),
}

/** The type of a note about the whole verdict, which names no operation. */
export const WHOLE_TYPES: Partial<Readonly<Record<What, EventType>>> = {
  ready: row('crosswalk.cutover.ready', 'Every operation with traffic that v2 can answer is ready: `crosswalk cutover` exits with 0'),
  'not-ready': row('crosswalk.cutover.unready', 'The answer of `crosswalk cutover` is no longer yes'),
}

export function typeOf({ what, operation }: Pick<Note, 'what' | 'operation'>): string {
  return ((operation === undefined ? WHOLE_TYPES[what] : undefined) ?? EVENT_TYPES[what]).type
}
