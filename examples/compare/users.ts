import { createComparison, type Mismatch } from 'crosswalk'

export interface User {
  readonly id: string
  readonly email: string
  readonly seenAt: string
}

/** The store that the program has, and the one that it moves to. */
export interface UserStores {
  readonly old: { find(id: string): Promise<User | undefined>; add(user: User): Promise<User> }
  readonly young: { byId(id: string): Promise<User | null>; insert(user: User): Promise<User> }
}

/** What the program calls in place of the stores, with the report and the verdict. */
export function createUsers({ old, young }: UserStores, onMismatch: (one: Mismatch) => void) {
  const comparison = createComparison(
    {
      diff: {
        perSecond: 50,
        deadlineMs: 2_000,
        ignore: [{ operations: 'users.get', at: '/seenAt', reason: 'The new store rounds it to minutes', until: '2099-01-01' }],
      },
    },
    { target: 0.01, onMismatch },
  )
  return {
    comparison,
    getUser: comparison.compare(
      async (id: string) => (await old.find(id)) ?? null,
      (id) => young.byId(id),
      { name: 'users.get', isRead: true, caller: (id) => id.split('-')[0] ?? '' },
    ),
    addUser: comparison.compare(
      (user: User) => old.add(user),
      (user) => young.insert(user),
      { name: 'users.add', isRead: false },
    ),
  }
}
