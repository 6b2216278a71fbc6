import type { Sandbox } from '../../../src/sandbox/start.ts'

type Row = Readonly<Record<string, string>>

/** Makes new resources at genuine v1, for one write alone. */
export interface Fresh {
  readonly organization: string
  /** A name that no other resource has. */
  name(): string
  /** Sends a write that must succeed. */
  post(path: string, body: unknown): Promise<Row>
  folder(): Promise<string>
  role(folder: string): Promise<string>
  identity(folder: string): Promise<string>
  repo(folder: string): Promise<string>
  provider(): Promise<string>
}

let names = 0

export function freshAt({ url, tokens, organization }: Sandbox): Fresh {
  const name = () => {
    names += 1
    return `write-${names}`
  }
  const post = async (path: string, body: unknown) => {
    const headers = { authorization: `Bearer ${tokens.owner}` }
    const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`POST ${path}: ${text}`)
    return JSON.parse(text) as Row
  }
  const made = async (path: string, body: unknown) => String((await post(path, body))['id'])
  const role = (folder: string) => made(`/iam/v1/roles/${folder}`, { name: name(), capabilities: ['groups.list', 'repo.list'] })
  return {
    organization,
    name,
    post,
    folder: () => made(`/iam/v1/groups/${organization}`, { name: name(), description: 'words' }),
    role,
    identity: (folder) =>
      made(`/iam/v1/identities/${folder}`, { name: name(), claim_match: { issuer: 'https://a.example', subject: 's' } }),
    repo: (folder) => made(`/registry/v1/repos/${folder}`, { name: name(), description: 'words' }),
    provider: async () =>
      made(`/iam/v1/identityProviders/${organization}`, { name: name(), default_role: await role(organization), oidc: OIDC }),
  }
}

export const OIDC = {
  issuer: 'https://login.example',
  client_id: 'client',
  client_secret: 'a secret',
  additional_scopes: ['email', 'groups'],
  groups_claim: 'groups',
}
