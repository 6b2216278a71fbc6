/** The tokens of the sandbox's people. */
export const OWNER = { authorization: 'Bearer demo-owner' }
export const ADMIN = { authorization: 'Bearer demo-admin' }

/** Creates a resource through a proxy of the sandbox; returns its id. */
export async function create(url: string, path: string, body: object): Promise<string> {
  const answer = await fetch(url + path, { method: 'POST', headers: ADMIN, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`POST ${path}: ${await answer.text()}`)
  return ((await answer.json()) as { id: string }).id
}

/** Makes a group in the sandbox's organization; returns its id. */
export async function createGroup(url: string, name: string): Promise<string> {
  const { items } = (await (await fetch(`${url}/iam/v1/groups`, { headers: OWNER })).json()) as { items: readonly { id: string }[] }
  const organization = items.find(({ id }) => !id.includes('/'))?.id
  return create(url, `/iam/v1/groups/${organization}`, { name })
}
