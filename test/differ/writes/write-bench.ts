import { mappings } from '../../../mappings/index.ts'
import type { Sandbox } from '../../../src/sandbox/start.ts'
import { isRead } from '../../../src/serve/sides.ts'
import type { Dialect } from '../../../src/tables/uid.ts'
import { startQuietSandbox } from '../../stage/sandbox.ts'
import { type EachMode, startEachMode } from '../stage/each-mode.ts'
import { type Fresh, freshAt } from './fresh.ts'
import { WRITES } from './write-cases.ts'

/** One sandbox with a Crosswalk for each mode in front of it, and fresh resources for every write. */
export interface WriteBench extends EachMode {
  readonly dialect: Dialect
  readonly sandbox: Sandbox
  readonly fresh: Fresh
}

export async function startWriteBench(dialect: Dialect): Promise<WriteBench> {
  const sandbox = await startQuietSandbox({ v1Dialect: dialect })
  const modes = await startEachMode({ sandbox, config: { 'v1.dialect': dialect } })
  const fresh = freshAt(sandbox)
  await bindOwners(sandbox, fresh)
  return { dialect, sandbox, fresh, ...modes }
}

/** Served writes that no case sends. */
export function unwritten(): readonly string[] {
  const served = mappings.flatMap(({ operations }) => operations).filter((operation) => operation.begin && !isRead(operation))
  return served.map(({ id }) => id).filter((id) => !Object.hasOwn(WRITES, id))
}

/** Two people must be owners before SCIM can be switched on (semantics §3.3). */
async function bindOwners({ url, tokens, organization }: Sandbox, fresh: Fresh): Promise<void> {
  const headers = { authorization: `Bearer ${tokens.owner}` }
  const { items } = (await (await fetch(`${url}/iam/v1/roles?name=owner`, { headers })).json()) as { items: { id: string }[] }
  for (let nth = 0; nth < 2; nth += 1) {
    await fresh.post(`/iam/v1/rolebindings/${organization}`, { identity: await fresh.identity(organization), role: items[0]?.id })
  }
}
