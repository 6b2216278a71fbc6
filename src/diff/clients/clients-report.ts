import { type Client, REST } from './client.ts'
import { toCsv } from './csv.ts'

const COLUMNS = [
  'caller',
  'subject',
  'operation',
  'calls',
  'last_seen',
  'modes',
  'mismatches',
  'could_move',
  'blockers',
  'cautions',
  'protocols',
]

/** One line for each client and operation. */
export function clientsCsv(clients: readonly Client[]): string {
  const rows = clients.flatMap(({ caller, subject = '', operations, couldMove, blockers, cautions }) =>
    operations.map(({ operation, calls, lastSeen, modes, protocols = [REST], mismatches }) => {
      const use = [operation, calls, time(lastSeen), modes.join(' '), mismatches]
      return [caller, subject, ...use, couldMove ? 'yes' : 'no', blockers.join('; '), cautions.join('; '), protocols.join(' ')]
    }),
  )
  return toCsv(COLUMNS, rows)
}

/** The clients with their times in RFC 3339, ready for `JSON.stringify`. */
export function clientsJson(clients: readonly Client[]): readonly object[] {
  return clients.map((client) => ({
    ...client,
    lastSeen: time(client.lastSeen),
    operations: client.operations.map((use) => ({ ...use, firstSeen: time(use.firstSeen), lastSeen: time(use.lastSeen) })),
  }))
}

function time(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}
