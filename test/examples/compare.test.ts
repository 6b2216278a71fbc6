import { expect, it } from 'vitest'
import { createUsers, type User } from '../../examples/compare/users.ts'

const userOf = (id: string): User => ({ id, email: `${id}@example.com`, seenAt: '2026-03-01T10:20:30Z' })

it('answers from the old store, and says whether the new one is ready', async () => {
  const inserted: User[] = []
  const old = { find: async (id: string) => userOf(id), add: async (user: User) => user }
  const young = {
    byId: async (id: string) => ({ ...userOf(id), seenAt: '2026-03-01T10:20:00Z', ...(id === 'a-0' && { email: '' }) }),
    async insert(user: User) {
      inserted.push(user)
      return user
    },
  }
  const told: string[] = []
  const { getUser, addUser, comparison } = createUsers({ old, young }, ({ name, differences }) => {
    told.push(`${name} ${differences.map(({ at }) => at)}`)
  })
  expect(await addUser(userOf('a-1'))).toEqual(userOf('a-1'))
  expect(await getUser('a-0')).toEqual(userOf('a-0'))
  await comparison.idle()
  expect({ inserted, told }).toEqual({ inserted: [], told: ['users.get /email'] })
  expect(comparison.verdict()).toMatchObject({ verdict: 'NOT READY', exitCode: 1 })
  expect(comparison.report().declarations).toMatchObject([{ code: 'ignored:1', findings: 1 }])
  await comparison.close()
})
