import { type Client, joinedClients } from '../migrate/clients.ts'
import { operationsOf } from '../tables/tables.ts'
import { type AdminPort, adminPort } from './admin-port.ts'
import { type Flags, type Io, textsOf } from './command.ts'
import { withProgress } from './terminal/progress.ts'

/**
 * Returns the clients that call the proxies of `--admin`, or the own one. Replicas that share a store are asked once: each tells what all
 * have seen. Returns a sentence if one cannot be asked.
 */
export async function askClients(flags: Flags, io: Io): Promise<readonly Client[] | { readonly problem: string }> {
  const port = adminPort(flags, io)
  const given = [...new Set(textsOf(flags, 'admin'))]
  const lists = await withProgress(io.screen, 'asking for clients', () => listsOf(port, given))
  return 'problem' in lists ? lists : joinedClients(lists, operationsOf(await io.tables()))
}

async function listsOf(port: AdminPort, given: readonly string[]): Promise<readonly (readonly Client[])[] | { readonly problem: string }> {
  const lists: (readonly Client[])[] = []
  for (const admin of given.length > 1 ? await onePerFleet(port, given) : [given[0] ?? port.own]) {
    const known = await port.ask<readonly Client[]>('/clients', admin)
    if ('problem' in known) return known
    lists.push(known)
  }
  return lists
}

/** What `GET /replicas` says of a replica, as far as it is needed. */
interface ReplicaId {
  readonly id: string
  /** True of the replica that answers. */
  readonly self: boolean
}

async function onePerFleet({ ask }: AdminPort, admins: readonly string[]): Promise<readonly string[]> {
  const asked = await Promise.all(admins.map(async (admin) => ({ admin, replicas: await ask<readonly ReplicaId[]>('/replicas', admin) })))
  const known = new Set<string>()
  return asked.flatMap(({ admin, replicas }) => {
    // A proxy without a store has no such answer.
    if ('problem' in replicas) return [admin]
    const isAsked = replicas.some(({ id, self }) => self && known.has(id))
    for (const { id } of replicas) known.add(id)
    return isAsked ? [] : [admin]
  })
}
