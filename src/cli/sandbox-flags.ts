import { z } from 'zod'
import { flag, host, integer, type SettingKind } from '../config/kinds.ts'
import { unknownVariables } from '../config/names/known-variables.ts'
import type { SandboxOptions } from '../sandbox/start.ts'
import { type Flag, type Flags, type Io, textOf } from './command.ts'

interface SandboxFlag extends Flag {
  readonly kind: SettingKind<unknown>
  readonly env?: string
}

const DATA_SETS = ['demo', 'empty', 'large']

const data: SettingKind<string> = {
  schema: z.string().refine((text) => DATA_SETS.includes(text) || text.endsWith('.json')),
  allowed: `one of ${DATA_SETS.join(', ')}, or a file whose name ends in .json`,
}

const GROUP = 'sandbox - The services that play v2 and v1'

/** The sandbox's own flags, for both `demo` and `sandbox`. */
const FLAGS = {
  'sandbox-port': {
    kind: integer(0, 65_535),
    env: 'CROSSWALK_SANDBOX_PORT',
    value: 'PORT',
    help: 'Port that the sandbox listens on. 0 = any free port. Default: 8090',
  },
  'sandbox-host': { kind: host, env: 'CROSSWALK_SANDBOX_HOST', help: 'Address that the sandbox listens on. Default: 127.0.0.1' },
  data: {
    kind: data,
    value: `${DATA_SETS.join('|')}|FILE`,
    help: 'Data of the sandbox: demo, empty, large, or a JSON file of resources in the form of v2. Default: demo',
  },
  tags: { kind: integer(1, 1_000_000), help: 'Number of tags in the repo "large" of the data set large. Default: 10000' },
  latency: { kind: integer(0, 600_000), value: 'MS', help: 'Milliseconds that the sandbox waits before every answer. Default: 0' },
  'readme-moves-repo': { kind: flag, help: 'Whether a change of a readme moves the update time of its repo. Default: false' },
} satisfies Record<string, SandboxFlag>

const SINKS: Flag = { group: GROUP, help: 'Also send events to http:// sinks, if they are on this machine', switch: true }

export const sandboxFlags: Readonly<Record<string, Flag>> = {
  ...Object.fromEntries(
    Object.entries(FLAGS).map(([name, flag]: [string, SandboxFlag]) => {
      const { value, choices } = flag.kind
      return [name, { group: GROUP, ...(value !== undefined && { value }), ...(choices && { choices }), ...flag }]
    }),
  ),
  'http-sinks': SINKS,
}

/** Returns the sandbox's options, or one sentence that names the wrong value, its source and the allowed values. */
export function sandboxOptions(flags: Flags, io: Io): { readonly options: SandboxOptions } | { readonly problem: string } {
  const [unknown] = unknownVariables(io.env)
  if (unknown !== undefined) return { problem: unknown }
  const values: Partial<Record<keyof typeof FLAGS, unknown>> = {}
  for (const [name, flag] of Object.entries(FLAGS) as [keyof typeof FLAGS, SandboxFlag][]) {
    const given = textOf(flags, name)
    const value = given ?? (flag.env ? io.env[flag.env] || undefined : undefined)
    if (value === undefined) continue
    const read = flag.kind.schema.safeParse(value)
    const source = given === undefined ? `the environment variable ${flag.env}` : `the flag --${name}`
    if (!read.success) return { problem: `${name} is ${JSON.stringify(value)} in ${source}, but it must be ${flag.kind.allowed}.` }
    values[name] = read.data
  }
  const {
    'sandbox-port': port,
    'sandbox-host': address,
    data: set,
    tags,
    latency: latencyMs,
    'readme-moves-repo': readmeMovesRepo,
  } = values
  const data = typeof set === 'string' && !DATA_SETS.includes(set) ? { file: set } : set
  const allowHttpSinks = flags['http-sinks'] === true
  return { options: { host: address, port, data, tags, latencyMs, readmeMovesRepo, allowHttpSinks } as SandboxOptions }
}
