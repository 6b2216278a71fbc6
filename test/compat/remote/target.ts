import type { Case } from '../case.ts'
import { carried } from '../rpc/carry.ts'
import { connectClient } from '../rpc/connect-client.ts'
import { grpcClient } from '../rpc/grpc-client.ts'
import type { Request, Role, Target } from '../target.ts'
import type { Flags } from './flags.ts'

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
