import type { Logger } from 'pino'
import type { Note } from '../diff/records/record.ts'

/** The level and the beginning of the line of each kind of note. */
const LINES: Readonly<Record<Note['what'], readonly [level: 'info' | 'warn', begin: (operation: string) => string]>> = {
  modes: ['info', () => 'the modes changed: '],
  circuit: ['warn', (operation) => `the circuit of ${operation} is open, its canary share is 0: `],
  'circuit-closed': ['warn', (operation) => `the circuit of ${operation} is closed again: `],
  rollout: ['info', () => ''],
  ready: ['info', (operation) => `${operation || WHOLE} is ready: `],
  'not-ready': ['warn', (operation) => `${operation || WHOLE} is no longer ready: `],
  restart: ['info', () => ''],
}

/** What a note of readiness without an operation is about. */
const WHOLE = 'the cutover'

/** Returns a listener that writes each note as one log line. Its members are those of the record. */
export function logNotes(log: Pick<Logger, 'info' | 'warn'>): (note: Note) => void {
  return ({ kind: _, at: __, id: ___, text, ...members }) => {
    const [level, begin] = LINES[members.what]
    log[level](members, begin(members.operation ?? '') + text)
  }
}
