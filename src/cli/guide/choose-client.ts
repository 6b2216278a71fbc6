import { type Client, findClient } from '../../migrate/clients.ts'
import { suggestion } from '../../tables/check.ts'

/** Returns the client that a person means, or a sentence that says why there is none. `list` is the command that lists all. */
export function chooseClient(
  known: readonly Client[],
  id: string,
  list: string,
): { readonly client: Client } | { readonly problem: string } {
  const found = findClient(known, id)
  if ('client' in found) return found
  if (found.fitting.length > 1) return { problem: `${found.fitting.length} clients begin with "${id}"; give more of the hash.` }
  const names = known.flatMap(({ caller, subject }) => (subject === undefined ? [caller] : [caller, subject]))
  return { problem: `No client "${id}" has called; ${suggestion(id, names, `${list} lists them.`)}` }
}
