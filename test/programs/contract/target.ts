import { parseArgs } from 'node:util'
import { carried, connectClient, grpcClient } from '../../contract/rpc/call.ts'
import type { Case, Dialect, Request, Role, Side, Target } from '../../contract/target.ts'

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

const CLIENTS = { grpc: grpcClient, connect: connectClient }

/** A v1 API at some address. `tell` gets every request before it is sent. */
export async function remoteTarget(flags: Flags, tell: (line: string) => void): Promise<Target> {
  const { target: url, side, dialect, tokens, over } = flags
  const token = (role: Role) => (role === 'stranger' ? 'no-such-token' : tokens[role])
  const announce = (role: Role, { method, path, text }: Request) =>
    tell(`${role}: ${method} ${path}${text === undefined ? '' : ` ${text}`}`)
  const found: Omit<Target, 'organization'> = { url, side, dialect, token, run: Date.now().toString(36), announce }
  const target = { ...found, organization: flags.organization ?? (await ownOrganization(url, tokens.owner ?? '')) }
  return over === 'rest' ? target : carried(target, CLIENTS[over](url)).target
}

/** Returns the only organization that the token sees. With several, the user must choose. */
async function ownOrganization(url: string, token: string): Promise<string> {
  const answer = await fetch(`${url}/iam/v1/groups?uidp.in_root=true`, { headers: { authorization: `Bearer ${token}` } })
  const { items = [] } = (await answer.json()) as { items?: readonly { id: string; name: string }[] }
  const [first, ...others] = items
  if (!first || others.length > 0) {
    const seen = items.map(({ id, name }) => `${id} (${name})`).join(', ')
    throw new Error(`the token sees ${items.length} organizations; name one with --organization UID${seen && `: ${seen}`}`)
  }
  return first.id
}

/** Returns the cases that can be played there: of this dialect, with tokens for every role, and only reading ones on request. */
export function playable(cases: readonly Case[], { dialect, tokens, readOnly }: Flags): readonly Case[] {
  const known = new Set<Role>([...(Object.keys(tokens) as Role[]), 'nobody', 'stranger'])
  return cases.filter(
    (one) => (one.dialect ?? dialect) === dialect && (one.reads || !readOnly) && (one.roles ?? []).every((role) => known.has(role)),
  )
}
