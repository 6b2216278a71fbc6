import { describe, expect, test } from 'vitest'
import { names, startV1 } from './harness.ts'

const { send, world, organization } = startV1()
const ids = async (request: string) => (await send(request)).body.items.map((item: { id: string }) => item.id)

describe('full sets', () => {
  test('return every row in uid order, more than any page of v2 holds', async () => {
    const [python] = await ids('GET /registry/v1/repos?name=python')
    const found: string[] = await ids(`GET /registry/v1/tags?uidp.children_of=${python}`)
    expect(found.length).toBeGreaterThan(200)
    expect(found).toEqual([...found].sort())
    expect(found).toHaveLength(world.store.tags.children(python).length)
  })

  test('are cut to windows in the same order', async () => {
    const all: string[] = await ids(`GET /registry/v1/repos?uidp.children_of=${organization}`)
    const repos = `GET /registry/v1/repos?uidp.children_of=${organization}`
    expect(all).toHaveLength(world.store.repos.children(organization).length)
    expect(await ids(`${repos}&offset=2&limit=3`)).toEqual(all.slice(2, 5))
    expect(await ids(`${repos}&page=2&page_size=5`)).toEqual(all.slice(5, 10))
    expect(await ids(`${repos}&pageNumber=3&perPage=5`)).toEqual(all.slice(10))
    expect(await ids(`${repos}&page=2`)).toEqual([])
  })

  test('are sorted by order_by, ties by uid', async () => {
    const repos = `GET /registry/v1/repos?uidp.children_of=${organization}`
    const byName = names(await send(`${repos}&order_by=name`))
    expect(byName).toEqual([...byName].sort())
    expect(names(await send(`${repos}&orderBy=name%20desc`))).toEqual([...byName].reverse())
    const newest = (await send(`${repos}&order_by=create_time+desc`)).body.items
    expect(newest[0].name).toBe('redis')
    const [nginx] = await ids('GET /registry/v1/repos?name=nginx')
    const tags = (await send(`GET /registry/v1/tags?uidp.children_of=${nginx}&order_by=last_updated`)).body.items
    const times = tags.map((tag: { last_updated: string }) => tag.last_updated)
    expect(times).toEqual([...times].sort())
  })
})

describe('scope', () => {
  const platform = () => world.store.groups.named(organization, 'platform')[0]?.uid ?? ''
  const payments = () => world.store.groups.named(organization, 'payments')[0]?.uid ?? ''
  const staging = () => world.store.groups.named(payments(), 'payments-staging')[0]?.uid ?? ''

  test('takes descendants_of, children_of and ancestors_of as documented', async () => {
    const below = world.store.groups.below(organization).map(({ uid }) => uid)
    expect(await ids(`GET /iam/v1/groups?uidp.descendants_of=${organization}`)).toEqual(below)
    expect(names(await send(`GET /iam/v1/groups?uidp.childrenOf=${organization}`))).not.toContain('payments-staging')
    expect(await ids(`GET /iam/v1/groups?uidp.ancestors_of=${staging()}`)).toEqual([organization, payments(), staging()])
    expect(names(await send('GET /iam/v1/groups?uidp.in_root=true'))).toEqual(['example.com'])
  })

  test('accepts repeated ids and combines members with AND', async () => {
    expect(await ids(`GET /iam/v1/groups?uidp.ids=${organization}&uidp.ids=${platform()}`)).toHaveLength(2)
    expect(await ids(`GET /iam/v1/groups?uidp.ids=${organization}&uidp.children_of=${organization}`)).toEqual([])
  })

  test('accepts one id, ignores an empty one and keeps other filters', async () => {
    expect(await ids(`GET /iam/v1/groups?id=${platform()}`)).toEqual([platform()])
    expect(await ids('GET /iam/v1/groups?id=')).toEqual(await ids('GET /iam/v1/groups'))
    expect(await ids(`GET /iam/v1/groups?id=${platform()}&name=payments`)).toEqual([])
  })

  test('hides rows that the caller may not see', async () => {
    const outsider = { token: 'demo-outsider' }
    expect(names(await send('GET /iam/v1/groups', undefined, outsider))).toEqual(['acme.dev'])
    expect((await send(`GET /registry/v1/repos?uidp.descendants_of=${organization}`, undefined, outsider)).body).toEqual({ items: [] })
    expect((await send(`GET /iam/v1/groups?id=${organization}`, undefined, outsider)).body).toEqual({ items: [] })
  })
})
