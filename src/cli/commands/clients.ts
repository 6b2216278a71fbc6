import type { Client } from '../../diff/clients/client.ts'
import { clientsCsv, clientsJson } from '../../diff/clients/clients-report.ts'
import { many } from '../../diff/many.ts'
import { adminFlags, askAdmin } from '../admin-port.ts'
import { type Command, FAILED, MISUSED } from '../command.ts'

/** Lists the clients that still call v1 and what blocks each of them. */
export const clients: Command = {
  usage: 'clients',
  summary: 'Lists every client with the v1 operations that it calls, and whether it could call v2 itself today.',
  flags: {
    csv: { help: 'Print CSV (RFC 4180), one line for each client and operation', switch: true },
    json: { help: 'Print one JSON array', switch: true },
    ...adminFlags,
  },
  async run(flags, _, io) {
    if (flags.csv && flags.json) {
      io.err('Choose one of --csv and --json.')
      return MISUSED
    }
    const known = await askAdmin<readonly Client[]>('/clients', flags, io)
    if ('problem' in known) {
      io.err(known.problem)
      return FAILED
    }
    if (flags.json) io.text(JSON.stringify(clientsJson(known), null, 2))
    else if (flags.csv) io.text(clientsCsv(known).trimEnd())
    else for (const line of known.flatMap(linesOf)) io.out(line)
    return 0
  },
}

function linesOf({ caller, subject, calls, lastSeen, mismatches, operations, couldMove, blockers, cautions }: Client): readonly string[] {
  const who = subject === undefined ? caller : `${caller} ${subject}`
  const verdict = couldMove ? 'could call v2 itself' : 'needs v1'
  return [
    `${who}  ${verdict}  ${many(calls, 'call')}, ${many(mismatches, 'mismatch', 'mismatches')}, last seen ${new Date(lastSeen).toISOString()}`,
    ...operations.map(({ operation, calls: times, modes }) => `  ${String(times).padStart(8)}  ${operation}  ${modes.join(' ')}`),
    ...blockers.map((blocker) => `  blocked by ${blocker}`),
    ...cautions.map((caution) => `  look at ${caution}`),
  ]
}
