/** A request that the sandbox received. */
interface Entry {
  readonly method: string
  readonly path: string
  readonly body: { readonly name?: string; readonly description?: string } | null
}

export async function journalOf(sandbox: string): Promise<readonly Entry[]> {
  return (await (await fetch(`${sandbox}/-/journal`)).json()) as readonly Entry[]
}

/** Counts how often v2 received each write, by its mark: `POST name`, `PATCH description`, `DELETE uid`. */
export function writesIn(entries: readonly Entry[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { method, path, body } of entries) {
    const uid = /^\/registry\/v2\/repos\/(.+)$/.exec(path)?.[1]
    if (uid === undefined || method === 'GET') continue
    const mark = `${method} ${method === 'POST' ? body?.name : method === 'PATCH' ? body?.description : uid}`
    counts.set(mark, (counts.get(mark) ?? 0) + 1)
  }
  return counts
}
