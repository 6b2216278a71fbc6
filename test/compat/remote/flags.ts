import { parseArgs } from 'node:util'
import type { Dialect } from '../spell.ts'
import type { Role, Side } from '../target.ts'

/** The ways that requests are sent. */
export type Over = 'rest' | 'grpc' | 'connect'

/** The target of the contract and its roles. */
export interface Flags {
  readonly target: string
  readonly dialect: Dialect
  readonly over: Over
  readonly side: Side
  readonly organization: string | undefined
  readonly readOnly: boolean
  readonly tokens: Readonly<Partial<Record<Role, string>>>
}

const USAGE =
  'usage: npm run contract -- --target URL --token OWNER [--as ROLE=TOKEN]... [--organization UID] [--dialect specification|published] [--over rest|grpc|connect] [--side proxied|genuine] [--read-only]'

const ROLES: readonly string[] = ['editor', 'viewer', 'outsider', 'admin', 'expired'] satisfies readonly Role[]

/** Reads the arguments of `npm run contract`. If they are incomplete, throws a sentence and the usage. */
export function readFlags(args: readonly string[]): Flags {
  const { values } = parseArgs({
    args: [...args],
    options: {
      target: { type: 'string' },
      token: { type: 'string' },
      as: { type: 'string', multiple: true, default: [] },
      organization: { type: 'string' },
      dialect: { type: 'string' },
      over: { type: 'string', default: 'rest' },
      side: { type: 'string', default: 'proxied' },
      'read-only': { type: 'boolean', default: false },
    },
  })
  const { target, token, organization } = values
  if (!target || !token) throw new Error(`--target and --token are needed\n${USAGE}`)
  const over = oneOf('over', values.over, ['rest', 'grpc', 'connect'])
  // Messages have the published dialect alone.
  const dialects: readonly Dialect[] = over === 'rest' ? ['specification', 'published'] : ['published']
  return {
    target: target.replace(/\/+$/, ''),
    dialect: values.dialect === undefined ? (dialects[0] as Dialect) : oneOf('dialect', values.dialect, dialects),
    over,
    side: oneOf('side', values.side, ['proxied', 'genuine']),
    organization,
    readOnly: values['read-only'],
    tokens: { owner: token, ...Object.fromEntries(values.as.map(roleAndToken)) },
  }
}

function roleAndToken(text: string): [string, string] {
  const [role = '', ...token] = text.split('=')
  return [oneOf('as', role, ROLES), token.join('=')]
}

function oneOf<T extends string>(flag: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((one) => one === value)
  if (found === undefined) throw new Error(`--${flag} takes ${allowed.join(', ')}, not "${value}"\n${USAGE}`)
  return found
}
