import { expect, it } from 'vitest'
import { mappings } from '../../../mappings/index.ts'
import { ANY_WRITES } from '../../../src/migrate/compare/expected.ts'
import { createRecentWrites, type WrittenResource } from '../../../src/migrate/modes/serve.ts'
import { isReadBack } from '../../../src/tables/operations.ts'

const operationOf = (id: string) => {
  const found = mappings.flatMap(({ operations }) => operations).find((operation) => operation.id === id)
  if (!found) throw new Error(`no operation ${id}`)
  return found
}

const written = (id: string, uid: string, goesWith?: string): WrittenResource => {
  const { readBack } = operationOf(id)
  if (!readBack || !isReadBack(readBack)) throw new Error(`${id} cannot be read back`)
  return { resource: readBack.resource, uid, goesWith, own: {} }
}

const after = (id: string, params: Record<string, string>) => {
  const writes = createRecentWrites()
  const others = writes.watch()
  writes.begin(operationOf(id), params)()
  return others
}

it.each<[string, string, Record<string, string>, WrittenResource, boolean]>([
  ['itself', 'iam.roles.delete', { id: 'a/1' }, written('iam.roles.create', 'a/1'), true],
  ['another of its kind', 'iam.roles.delete', { id: 'a/1' }, written('iam.roles.create', 'a/2'), false],
  ['another kind of resource', 'iam.roles.delete', { id: 'a/1' }, written('iam.groups.create', 'a/2'), false],
  ['what lies below a group', 'iam.groups.delete', { id: 'a' }, written('iam.roles.create', 'a/2'), true],
  ['what lies below a repo', 'registry.repos.delete', { id: 'a/1' }, written('registry.tags.create', 'a/1/2'), true],
  [
    'nothing below the group of an account association',
    'iam.account_associations.delete',
    { group: 'a' },
    written('iam.roles.create', 'a/2'),
    false,
  ],
  ['the bindings of an identity', 'iam.identities.delete', { id: 'a/1' }, written('iam.role_bindings.create', 'a/2', 'a/1'), true],
  ['no binding of another identity', 'iam.identities.delete', { id: 'a/3' }, written('iam.role_bindings.create', 'a/2', 'a/1'), false],
  [
    'some mappings in a batch',
    'iam.external_group_role_mappings.batch_delete',
    {},
    written('iam.external_group_role_mappings.create', 'a/2'),
    true,
  ],
  ['nothing else in a batch of mappings', 'iam.external_group_role_mappings.batch_delete', {}, written('iam.roles.create', 'a/2'), false],
])('knows that a delete takes %s', (_, id, params, resource, gone) => {
  expect(after(id, params).mayBeGone(resource)).toBe(gone)
})

it('knows which mappings a batch deletes once its body is read', () => {
  const writes = createRecentWrites()
  const others = writes.watch()
  const operation = operationOf('iam.external_group_role_mappings.batch_delete')
  const params = {}
  writes.begin(operation, params)
  writes.readBody({ operation, read: () => ({ params, query: new Map(), body: { parent_id: 'a', ids: ['a/1'] } }) })
  const gone = ['a/1', 'a/2'].map((uid) => others.mayBeGone(written('iam.external_group_role_mappings.create', uid)))
  expect(gone).toEqual([true, false])
})

it('counts writes that were under way, but not the own write', () => {
  const writes = createRecentWrites()
  const own = { id: 'a/1' }
  const end = writes.begin(operationOf('iam.roles.update'), own)
  const others = writes.watch()
  const role = written('iam.roles.update', 'a/1')
  expect([others.mayBeChanged({ ...role, own }), others.mayBeChanged(role)]).toEqual([false, true])
  end()
  expect(writes.watch().mayBeChanged(role)).toBe(false)
})

it('assumes anything after more writes than it remembers', () => {
  const writes = createRecentWrites()
  const others = writes.watch()
  for (let nth = 0; nth <= 1000; nth += 1) writes.begin(operationOf('iam.roles.delete'), { id: `a/${nth + 10}` })()
  expect([others.mayBeGone(written('iam.groups.create', 'b')), writes.watch().mayBeGone(written('iam.groups.create', 'b'))]).toEqual([
    true,
    false,
  ])
})

it('knows what writes did to the lists of a resource', () => {
  const writes = createRecentWrites()
  const end = writes.begin(operationOf('events.subscriptions.create'), { parent_id: 'a' })
  writes.begin(operationOf('events.subscriptions.create'), { parent_id: 'b' })()
  const others = writes.watch()
  writes.heard(operationOf('events.subscriptions.delete'), { id: 'a/1' }, undefined)()
  writes.begin(operationOf('iam.role_bindings.create_batch'), { parent: 'a' })()
  writes.begin(operationOf('iam.groups.create'), { parent_id: '' })()
  end()
  const rowsOf = (id: string) => others.toRows(operationOf(id).answer)
  expect(rowsOf('events.subscriptions.list')).toMatchObject({
    count: 3,
    creates: [
      { parent: 'a', most: 1 },
      { parent: 'b', most: 1 },
    ],
  })
  expect(rowsOf('iam.role_bindings.list')).toMatchObject({ count: 1, creates: [{ parent: 'a', most: Number.POSITIVE_INFINITY }] })
  expect(rowsOf('iam.groups.list')).toMatchObject({ count: 1, creates: [{ parent: undefined, most: 1 }] })
  expect(rowsOf('iam.roles.list')).toMatchObject({ count: 0, creates: [] })
  expect(['a/1', 'a/2'].map((uid) => rowsOf('iam.roles.list').names(uid))).toEqual([true, false])
  expect(writes.watch().toRows(operationOf('events.subscriptions.list').answer).count).toBe(0)
})

it('assumes any write to a list after more writes than it remembers', () => {
  const writes = createRecentWrites()
  const others = writes.watch()
  writes.heardMany()
  const { answer } = operationOf('iam.roles.list')
  expect(others.toRows(answer)).toBe(ANY_WRITES)
  expect(writes.watch().toRows(answer)).toMatchObject(NO_COUNTS)
})

const NO_COUNTS = { count: 0, creates: [] }
