import { misuse } from '../../../errors.ts'
import { readFacts } from '../../../grpc/facts.ts'
import { type Client, clientsCsv, clientsJson, findClient } from '../../../migrate/clients.ts'
import { count, many } from '../../../migrate/evidence/evidence.ts'
import { suggestion } from '../../../tables/check.ts'
import { operationsOf, type Tables } from '../../../tables/tables.ts'
import { clientGuide, type SectionContext } from '../../../tools/guide.ts'
import { guideBlocks, htmlPage, markdownOf } from '../../../tools/guide-pages.ts'
import { createMethodNames, type Guide } from '../../../tools/guide-request.ts'
import { compatSettings } from '../../config/config.ts'
import type { Config } from '../../config/settings.ts'
import { adminFlags, askClients } from '../admin-port.ts'
import { type Command, type Flag, type Flags, type Io, print, textOf, writeText } from '../command.ts'
import { checkPattern, configFlags, configOf, fitsOperation, topFlag, topOf } from '../flags.ts'

/** Returns the client that a person means. `list` is the command that lists all. Throws a sentence that says why there is none. */
export function chooseClient(known: readonly Client[], id: string, list: string): Client {
  const found = findClient(known, id)
  if ('client' in found) return found.client
  if (found.fitting.length > 1) throw new Error(`${found.fitting.length} clients begin with "${id}"; give more of the hash.`)
  const names = known.flatMap(({ caller, subject, name }) => [caller, subject, name].filter((one) => one !== undefined))
  throw new Error(`No client "${id}" has called; ${suggestion(id, names, `${list} lists them.`)}`)
}

/** The address of v2 in examples, if no setting gives one: that of the sandbox. */
export const DEFAULT_BASE = 'http://127.0.0.1:8090'

/** The flags of the settings that decide how v2 is called. */
export const callFlags = configFlags(['tables', 'upstream.v2', 'v1.dialect', 'v2.maskCase', 'v2.replaceMask', 'registry.readmes'])

/** The flags of a guide besides `--guide` and `--json`. */
export const guideFlags: Readonly<Record<string, Flag>> = {
  html: { help: 'File to write the guide to, as one self-contained page', value: 'FILE' },
}

export function guideContext(config: Config, { mappings, differences, topics }: Tables): SectionContext {
  const methods = createMethodNames(readFacts())
  return { mappings, differences, topics, methods, env: compatSettings(config), base: config['upstream.v2'] ?? DEFAULT_BASE }
}

/** Throws a misuse if the flags do not go together. */
export function checkGuideFlags(flags: Flags): void {
  if (flags.html !== undefined && !flags.guide) throw misuse('--html goes with --guide.')
  if (flags.html !== undefined && flags.json) throw misuse('Choose one of --html and --json.')
}

/** Writes a guide as a page, as JSON or as Markdown. */
export function writeGuide(guide: Guide, flags: Flags, io: Io): Promise<number> {
  const file = textOf(flags, 'html')
  if (flags.json) return writeText(io, JSON.stringify(guide, null, 2), undefined)
  const blocks = guideBlocks(guide)
  return writeText(io, file === undefined ? markdownOf(blocks) : htmlPage(guide.title, blocks), file)
}

/** Lists the clients that still call v1 and what blocks each of them, or writes the guide of one. */
export const clients: Command = {
  usage: 'clients [ID]',
  summary:
    'Lists every client with the v1 operations that it calls, and whether it could call v2 itself. --guide says how one client moves.',
  optional: ['ID'],
  flags: {
    guide: {
      help: 'Print what one client must change to call v2 itself, in Markdown. ID is its hash, the beginning of it, its subject or its name',
      switch: true,
    },
    ...guideFlags,
    operations: {
      help: 'Only clients that call an operation that this pattern fits, such as iam, iam.groups.* or *.list',
      value: 'PATTERN',
    },
    ...topFlag,
    csv: { help: 'Print CSV (RFC 4180), one line for each client and operation', switch: true },
    json: { help: 'Print one JSON array, or the guide as one JSON object', switch: true },
    ...adminFlags,
    admin: { ...adminFlags.admin, help: `${adminFlags.admin?.help}. May be repeated: the clients of all are added`, more: true },
    ...callFlags,
  },
  async run(flags, [id], io) {
    if (flags.csv && (flags.json || flags.guide)) throw misuse(`Choose one of --csv and --${flags.json ? 'json' : 'guide'}.`)
    if (flags.guide && id === undefined) throw misuse('Say which client: crosswalk clients ID --guide. crosswalk clients lists them.')
    checkGuideFlags(flags)
    const top = topOf(flags)
    const pattern = textOf(flags, 'operations')
    if (pattern !== undefined) checkPattern(pattern, operationsOf(await io.tables()))
    const known = await askClients(flags, io)
    const chosen = id === undefined ? undefined : chooseClient(known, id, 'crosswalk clients')
    if (flags.guide && chosen) return writeGuide(clientGuide(chosen, guideContext(configOf(flags, io), await io.tables())), flags, io)
    const calls = ({ operations }: Client) => pattern === undefined || operations.some((use) => fitsOperation(pattern, use.operation))
    const all = chosen ? [chosen] : known.filter(calls)
    const shown = Number.isFinite(top) ? [...all].sort((a, b) => b.calls - a.calls).slice(0, top) : all
    if (flags.csv) io.text(clientsCsv(shown).trimEnd())
    else print(io, flags, clientsJson(shown), () => [...shown.flatMap(linesOf), ...(chosen ? [] : [totals(all)])])
    return 0
  },
}

/** `12 clients, 3,400 calls: 5 could call v2 themselves`. */
function totals(all: readonly Client[]): string {
  const calls = all.reduce((sum, client) => sum + client.calls, 0)
  return `${many(all.length, 'client')}, ${many(calls, 'call')}: ${count(all.filter(({ couldMove }) => couldMove).length)} could call v2 without v1`
}

function linesOf(client: Client): readonly string[] {
  const { caller, subject, name, agents = [], calls, lastSeen, mismatches, operations, couldMove, blockers, cautions } = client
  const who = [caller, name, subject].filter((one) => one !== undefined).join(' ')
  const verdict = couldMove ? 'could call v2 itself' : 'needs v1'
  return [
    `${who}  ${verdict}  ${many(calls, 'call')}, ${many(mismatches, 'mismatch', 'mismatches')}, last seen ${new Date(lastSeen).toISOString()}`,
    ...(agents.length === 0 ? [] : [`  calls itself ${agents.join(', ')}`]),
    ...operations.map(
      ({ operation, calls: times, modes, protocols }) =>
        `  ${count(times).padStart(8)}  ${operation}  ${modes.join(' ')}${protocols ? `  ${protocols.join(' ')}` : ''}`,
    ),
    ...blockers.map((blocker) => `  blocked by ${blocker}`),
    ...cautions.map((caution) => `  look at ${caution}`),
  ]
}
