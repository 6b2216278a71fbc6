import type { Client } from './client.ts'

/** The client that a person means, or those that it may be: none, or several. */
export type FoundClient = { readonly client: Client } | { readonly fitting: readonly Client[] }

/** Finds a client by its subject, or by its hash or the beginning of it. */
export function findClient(clients: readonly Client[], id: string): FoundClient {
  const exact = clients.filter(({ caller, subject }) => caller === id || subject === id)
  const fitting = exact.length > 0 ? exact : clients.filter(({ caller }) => id !== '' && caller.startsWith(id.toLowerCase()))
  const [client] = fitting
  return client && fitting.length === 1 ? { client } : { fitting }
}
