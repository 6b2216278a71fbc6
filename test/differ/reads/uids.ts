import type { Sandbox } from '../../../src/sandbox/start.ts'

/** Uids of the demo data, as genuine v1 tells them. */
export interface Uids {
  readonly folder: string
  /** A group with an account association. */
  readonly group: string
  readonly identity: string
  readonly role: string
  readonly provider: string
  readonly mapping: string
  readonly binding: string
  /** A repo that is synced from `source`. */
  readonly repo: string
  readonly source: string
  /** A repo whose tags fit into one page. */
  readonly small: string
  /** Of the newest image of the repo. */
  readonly digest: string
  readonly advisory: string
}

type Row = Readonly<Record<string, unknown>>

/** Asks genuine v1 for the uids. Throws if the demo data has no such row. */
export async function uidsOf({ url, tokens, organization }: Sandbox): Promise<Uids> {
  const first = async (path: string, is: (row: Row) => boolean = () => true) => {
    const answer = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${tokens.admin}` } })
    const { items } = (await answer.json()) as { items: readonly Row[] }
    const found = items.find(is)
    if (!found) throw new Error(`the sandbox has no such row: ${path}`)
    return found
  }
  const named = (name: string) => (row: Row) => row['name'] === name
  const inside = `uidp.children_of=${organization}`
  const repo = await first(`/registry/v1/repos?${inside}`, named('node'))
  const source = (repo['sync_config'] ?? repo['syncConfig']) as Row
  const id = async (path: string, is?: (row: Row) => boolean) => String((await first(path, is))['id'])
  const provider = await id('/iam/v1/identityProviders')
  return {
    folder: await id(`/iam/v1/groups?${inside}`, named('platform')),
    group: organization,
    identity: await id(`/iam/v1/identities?${inside}`, named('ci-bot')),
    role: await id(`/iam/v1/roles?${inside}`, named('tag-writer')),
    provider,
    mapping: await id(`/iam/v1/externalGroupRoleMappings?identity_provider_uidp=${provider}`),
    binding: await id(`/iam/v1/rolebindings?${inside}`),
    repo: String(repo['id']),
    small: await id(`/registry/v1/repos?${inside}`, named('ruby')),
    source: String(source['source']),
    digest: String((await first(`/registry/v1/tags?uidp.children_of=${repo['id']}`, named('latest')))['digest']),
    advisory: await id(`/vulnerabilities/v1/advisories?uidp.descendants_of=${organization}`),
  }
}
