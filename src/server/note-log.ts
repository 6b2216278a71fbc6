import type { Logger } from 'pino'
import type { Note } from '../migrate/records/record.ts'

type Level = 'info' | 'warn'

/** The level and the beginning of the line of each kind of note. */
const LINES: Readonly<Record<Note['what'], readonly [level: (note: Note) => Level, begin: (operation: string) => string]>> = {
  modes: [() => 'info', () => 'the modes changed: '],
  circuit: [() => 'warn', (operation) => `the circuit of ${operation} is open, its canary share is 0: `],
  'circuit-closed': [() => 'warn', (operation) => `the circuit of ${operation} is closed again: `],
  rollout: [({ by, to }) => (by?.source === 'rollout' && STOPPED.test(to ?? '') ? 'warn' : 'info'), () => ''],
  ready: [() => 'info', (operation) => `${operation || WHOLE} is ready: `],
  'not-ready': [() => 'warn', (operation) => `${operation || WHOLE} is no longer ready: `],
  restart: [() => 'info', () => ''],
  epoch: [() => 'info', () => ''],
  conflict: [() => 'warn', () => ''],
}

/** What a note of readiness without an operation is about. */
const WHOLE = 'the cutover'

/** The states of a rollout that stopped by itself. */
const STOPPED = /^(?:paused|turned-back)\b/

/** Returns a listener that writes each note as one log line. Its members are those of the record. */
export function logNotes(log: Pick<Logger, Level>): (note: Note) => void {
  return (note) => {
    const { kind: _, at: __, id: ___, text, ...members } = note
    const [level, begin] = LINES[note.what]
    log[level(note)](members, begin(note.operation ?? '') + text)
  }
}
