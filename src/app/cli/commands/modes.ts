import { misuse } from '../../../errors.ts'
import { fileWithin } from '../../../files.ts'
import { BESIDE_RULES, describeChange, describeRules, type ModeRules, readModeRules } from '../../../migrate/modes/rules.ts'
import { type Actor, describeActor } from '../../../migrate/records/record.ts'
import { suggestion } from '../../../tables/check.ts'
import { isObject, oneLine } from '../../../tables/json.ts'
import { adminFlags, tagged } from '../admin-port.ts'
import { type Command, endWith, FAILED, type Flags, type Io, MISUSED, print, textOf } from '../command.ts'

const COMMANDS = ['get', 'diff', 'set']

/** What `GET` and `PUT /modes` answer, as far as the command tells it. */
export interface ModesAnswer {
  readonly version: number
  readonly changed: { readonly at: string; readonly by: Actor }
  readonly drift?: string
  /** The address of the report page, if people know one. */
  readonly page?: string
  readonly warnings?: readonly string[]
  /** The replicas that do not have them yet, if several share them. */
  readonly missing?: readonly { readonly id: string }[]
}

/** Tells which side answers, and changes that. */
export const modes: Command = {
  usage: 'modes [get | diff FILE | set FILE]',
  summary: 'Prints the modes of a running proxy, says what a file would change, or applies the file. - reads standard input.',
  more: true,
  flags: {
    json: {
      help: 'Print JSON. get prints a file for diff and set, with the etag, so that set overwrites no later change',
      switch: true,
    },
    'if-match': {
      help: 'With set: the etag that must be active, or * for any. Default: that of the file, or the active one',
      value: 'ETAG',
    },
    ...adminFlags,
  },
  async run(flags, [command = 'get', file, ...others], io) {
    if (!COMMANDS.includes(command))
      return endWith(
        io,
        MISUSED,
        `crosswalk modes has no command "${command}"; ${suggestion(command, COMMANDS, `use ${COMMANDS.join(', ')}.`)}`,
      )
    if (others.length > 0 || (file === undefined) !== (command === 'get')) return endWith(io, MISUSED, `Usage: crosswalk ${modes.usage}`)
    const given = file === undefined ? undefined : await readFileOf(file, io)
    const known = await tagged<ModesAnswer>({ method: 'GET', path: '/modes' }, flags, io)
    const before = rulesOf(known.answer)
    if (given === undefined) {
      print(io, flags, { etag: known.etag, ...before }, () => modesLines(known.answer))
      return 0
    }
    if (command === 'diff') {
      const change = describeChange(before, given.rules, true)
      const { version } = known.answer
      print(io, flags, { version, change }, () => [`Version ${version}: ${change}.`])
      return change === 'nothing differs' ? 0 : FAILED
    }
    return putModes(before, given.rules, textOf(flags, 'if-match') ?? given.etag ?? known.etag, flags, io)
  },
}

/** Replaces the modes, and says what that changed. \`body\` holds the rules as people write them. Returns the exit code. */
export async function putModes(before: ModeRules, body: object, ifMatch: string | undefined, flags: Flags, io: Io): Promise<number> {
  const { answer } = await tagged<ModesAnswer>({ method: 'PUT', path: '/modes', body, ifMatch }, flags, io)
  const { version, missing = [], warnings = [] } = answer
  print(io, flags, answer, () => [`Version ${version}: ${describeChange(before, rulesOf(answer), true)}.`])
  for (const { id } of missing) io.err(`Replica ${id} does not have them yet.`)
  for (const warning of warnings) io.err(warning)
  return missing.length > 0 ? FAILED : 0
}

/** Bytes of a file of rules: those of a body that the admin port takes. */
const MOST = 256 * 1024

/** Reads rules from a file: those of `modes get --json`, or the setting `modes`. Rejects with a misuse. */
async function readFileOf(path: string, { stdin }: Io) {
  const text = path === '-' ? await stdin() : (await fileWithin(path, MOST)).toString()
  const name = path === '-' ? 'standard input' : oneLine(path)
  let value: unknown
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    throw misuse(`${name} is not JSON: ${(error as Error).message}.`)
  }
  const rules = readModeRules(isObject(value) ? pick(value) : value)
  if ('problem' in rules) throw misuse(`${name}: ${rules.problem}`)
  return { rules, etag: isObject(value) && typeof value.etag === 'string' ? value.etag : undefined }
}

/** `get --json` prints the etag beside what the answer says. */
function pick(value: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(value).filter(([member]) => member !== 'etag' && !BESIDE_RULES.has(member)))
}

export function rulesOf(answer: ModesAnswer): ModeRules {
  const rules = readModeRules(pick(answer as unknown as Readonly<Record<string, unknown>>))
  if ('problem' in rules) throw new Error(`The proxy has modes that this version of Crosswalk cannot read. ${rules.problem}`)
  return rules
}

/** `Version 3 since 2027-03-01T12:00:00.000Z, by ops.`, and the rules in one line. */
export function modesLines(answer: ModesAnswer): readonly string[] {
  const { version, changed, drift, warnings = [] } = answer
  const told = `Modes: version ${version} since ${changed.at} (${describeActor(changed.by)})`
  return [
    told,
    `  ${describeRules(rulesOf(answer), true)}`,
    ...(drift === undefined ? [] : [`  ${drift}`]),
    ...warnings.map((one) => `  ${one}`),
  ]
}
