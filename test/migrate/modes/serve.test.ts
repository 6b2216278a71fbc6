import { describe, expect, it } from 'vitest'
import { mappings } from '../../../mappings/index.ts'
import { ANY_WRITES } from '../../../src/migrate/compare/expected.ts'
import { createTerms } from '../../../src/migrate/modes/journal.ts'
import {
  createAccepted,
  createOwnWrites,
  createWatch,
  createWriteHistory,
  RecentWrites,
  type WrittenResource,
} from '../../../src/migrate/modes/serve.ts'
import type { Kept } from '../../../src/migrate/observe/compare-read.ts'
import { tee } from '../../../src/migrate/observe/observe.ts'
import type { Observer } from '../../../src/migrate/observe/observer.ts'
import { ANONYMOUS, type ClientRequest } from '../../../src/serve/request.ts'
import type { Served } from '../../../src/serve/sides.ts'
import { isReadBack } from '../../../src/tables/operations.ts'
import { operationOf } from '../given.ts'

describe('accepted', () => {
  const guarded = {}
  const open = { takesNoToken: true as const }

  describe('a credential', () => {
    it.each([200, 201, 204, 299])('is accepted by HTTP %i', (status) => {
      const accepted = createAccepted()
      accepted.noteStatus(guarded, 'a', status, 'v1')
      expect([accepted.has('a'), accepted.has('b')]).toEqual([true, false])
    })

    it.each([101, 302, 304, 400, 401, 403, 404, 409, 429, 500, 503])('is not accepted by HTTP %i', (status) => {
      const accepted = createAccepted()
      accepted.noteStatus(guarded, 'a', status, 'v1')
      expect(accepted.has('a')).toBe(false)
    })

    it('is not accepted by an operation without one, and no credential never is', () => {
      const accepted = createAccepted()
      accepted.noteStatus(open, 'a', 200, 'v1')
      accepted.noteStatus(guarded, ANONYMOUS, 200, 'v1')
      expect([accepted.has('a'), accepted.has(ANONYMOUS)]).toEqual([false, false])
    })

    it('is accepted until a service rejects it', () => {
      const accepted = createAccepted()
      accepted.noteStatus(guarded, 'a', 200, 'v1')
      for (const status of [400, 403, 404, 500]) accepted.noteStatus(guarded, 'a', status, 'v1')
      expect(accepted.has('a')).toBe(true)
      accepted.noteStatus(guarded, 'a', 401, 'v1')
      expect(accepted.has('a')).toBe(false)
      accepted.noteStatus(guarded, 'a', 200, 'v1')
      expect(accepted.has('a')).toBe(true)
    })

    it('is forgotten only when no side accepts it', () => {
      const accepted = createAccepted()
      accepted.noteStatus(guarded, 'a', 200, 'v1')
      accepted.noteStatus(guarded, 'a', 401, 'v2')
      expect(accepted.has('a')).toBe(true)
      accepted.noteStatus(guarded, 'a', 200, 'v2')
      accepted.noteStatus(guarded, 'a', 401, 'v1')
      expect(accepted.has('a')).toBe(true)
      accepted.noteStatus(guarded, 'a', 401, 'v2')
      expect(accepted.has('a')).toBe(false)
    })
  })

  it('remembers a limited number; the oldest is dropped, and returns with a success', () => {
    const accepted = createAccepted(2)
    for (const credential of ['a', 'b', 'b', 'c']) accepted.noteStatus(guarded, credential, 200, 'v1')
    expect(['a', 'b', 'c'].map(accepted.has)).toEqual([false, true, true])
    accepted.noteStatus(guarded, 'a', 200, 'v1')
    expect(['a', 'b', 'c'].map(accepted.has)).toEqual([true, false, true])
  })

  it('strangers take no place', () => {
    const accepted = createAccepted(2)
    accepted.noteStatus(guarded, 'a', 200, 'v1')
    for (let nth = 0; nth < 10; nth += 1) accepted.noteStatus(guarded, `forged-${nth}`, 401, 'v1')
    expect(accepted.has('a')).toBe(true)
  })
})

describe('a streamed answer in a diff mode', () => {
  const operation = operationOf('iam.roles.list')

  /** Serves one streamed answer to a caller that v2 knows or not. Returns what the client gets, and what the observer was told. */
  async function served(full: 'perSecond' | undefined, isAccepted: boolean) {
    const told: string[] = []
    const observer = {
      limit: 100,
      full: () => full,
      skip: (_: unknown, why: string, isUse?: boolean) => void told.push(isUse ? `${why} use` : why),
      look: () => void told.push('look'),
    } as unknown as Observer
    const witnesses = createWriteHistory()
    if (isAccepted) witnesses.accepted.noteStatus(operation, 'token', 200, 'v2')
    const request = {
      operation,
      caller: 'caller',
      credential: 'token',
      client: { aborted: false },
      read: () => ({ params: {}, query: new Map() }),
    } as unknown as ClientRequest
    async function* pieces() {
      yield Buffer.from('[]')
    }
    const answer: Served = { answer: { status: 200, headers: {}, stream: pieces() }, by: 'v2' }
    const given = createWatch(observer, witnesses, createTerms())('diff-v2', request).served(answer)
    if ('stream' in given.answer) for await (const _ of given.answer.stream);
    return { isSame: given === answer, isKept: given.isKept === true, told }
  }

  it('is looked at when the client has it', async () => {
    expect(await served(undefined, true)).toEqual({ isSame: false, isKept: true, told: ['look'] })
  })

  it('is passed on as it is, and counted, when the rate is spent', async () => {
    expect(await served('perSecond', true)).toEqual({ isSame: true, isKept: false, told: ['perSecond use'] })
  })

  it.each([undefined, 'perSecond'] as const)('is that of a stranger if no service knows the caller (%s)', async (full) => {
    expect((await served(full, false)).told).toEqual(['stranger'])
  })
})

describe('a copy of a streamed answer', () => {
  it('stays as it was when the memory of a sent piece is used again', async () => {
    const memory = Buffer.alloc(3)
    async function* pieces() {
      for (const text of ['one', 'two']) {
        memory.write(text)
        yield memory
      }
    }
    let kept: Kept | undefined
    const answer = tee({ status: 200, headers: {}, stream: pieces() }, 100, (whole) => {
      kept = whole
    })
    if ('stream' in answer) for await (const _ of answer.stream);
    expect(kept).toMatchObject({ body: { pieces: [Buffer.from('one'), Buffer.from('two')] }, size: 6 })
  })
})

describe('own writes', () => {
  const watched = (limit?: number) => {
    const { begin, mark, hasWritten } = createOwnWrites(limit)
    const watch = (caller: string) => {
      const from = mark(caller)
      return () => hasWritten(caller, from)
    }
    return { begin, watch }
  }

  it('reports a write that was under way at any time since the call, and no other', () => {
    const { begin, watch } = watched()
    begin('a')()
    const quiet = watch('a')
    expect(quiet()).toBe(false)
    begin('b')()
    expect(quiet()).toBe(false)
    const end = begin('a')
    const during = watch('a')
    end()
    end()
    expect([quiet(), during(), watch('a')()]).toEqual([true, true, false])
  })

  it('drops the oldest writer, and then assumes a write rather than none', () => {
    const { begin, watch } = watched(2)
    const unwritten = watch('a')
    for (const writer of ['a', 'b', 'c', 'd']) begin(writer)()
    expect([unwritten(), watch('a')()]).toEqual([true, false])
  })

  it('keeps a caller while its write is under way, however many others come', () => {
    const { begin, watch } = watched(2)
    const end = begin('a')
    for (let nth = 0; nth < 10; nth += 1) begin(`other-${nth}`)()
    const during = watch('a')
    end()
    expect(during()).toBe(true)
  })

  it('does not store readers, so that they displace no writer', () => {
    const { begin, watch } = watched(2)
    const unwritten = watch('a')
    for (let nth = 0; nth < 10; nth += 1) watch(`reader-${nth}`)
    expect(unwritten()).toBe(false)
    begin('a')()
    expect(unwritten()).toBe(true)
  })
})

describe('recent writes', () => {
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
    const writes = new RecentWrites()
    const others = writes.since(writes.mark())
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
    const writes = new RecentWrites()
    const others = writes.since(writes.mark())
    const operation = operationOf('iam.external_group_role_mappings.batch_delete')
    const params = {}
    writes.begin(operation, params)
    writes.readBody({ operation, read: () => ({ params, query: new Map(), body: { parent_id: 'a', ids: ['a/1'] } }) })
    const gone = ['a/1', 'a/2'].map((uid) => others.mayBeGone(written('iam.external_group_role_mappings.create', uid)))
    expect(gone).toEqual([true, false])
  })

  it('counts writes that were under way, but not the own write', () => {
    const writes = new RecentWrites()
    const own = { id: 'a/1' }
    const end = writes.begin(operationOf('iam.roles.update'), own)
    const others = writes.since(writes.mark())
    const role = written('iam.roles.update', 'a/1')
    expect([others.mayBeChanged({ ...role, own }), others.mayBeChanged(role)]).toEqual([false, true])
    end()
    expect(writes.since(writes.mark()).mayBeChanged(role)).toBe(false)
  })

  it('assumes anything after more writes than it remembers', () => {
    const writes = new RecentWrites()
    const others = writes.since(writes.mark())
    for (let nth = 0; nth <= 1000; nth += 1) writes.begin(operationOf('iam.roles.delete'), { id: `a/${nth + 10}` })()
    expect([
      others.mayBeGone(written('iam.groups.create', 'b')),
      writes.since(writes.mark()).mayBeGone(written('iam.groups.create', 'b')),
    ]).toEqual([true, false])
  })

  it('knows what writes did to the lists of a resource', () => {
    const writes = new RecentWrites()
    const end = writes.begin(operationOf('events.subscriptions.create'), { parent_id: 'a' })
    writes.begin(operationOf('events.subscriptions.create'), { parent_id: 'b' })()
    const others = writes.since(writes.mark())
    writes.beginElsewhere(operationOf('events.subscriptions.delete'), { id: 'a/1' }, undefined)()
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
    expect(writes.since(writes.mark()).toRows(operationOf('events.subscriptions.list').answer).count).toBe(0)
  })

  it('assumes any write to a list after more writes than it remembers', () => {
    const writes = new RecentWrites()
    const others = writes.since(writes.mark())
    writes.noteMany()
    const { answer } = operationOf('iam.roles.list')
    expect(others.toRows(answer)).toBe(ANY_WRITES)
    expect(writes.since(writes.mark()).toRows(answer)).toMatchObject(NO_COUNTS)
  })

  const NO_COUNTS = { count: 0, creates: [] }
})
