import { AsyncLocalStorage } from 'node:async_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { compare } from '../../../src/app/library/compare.ts'
import { callMany, startComparison } from './stage.ts'

const READ = { name: 'users.get', isRead: true } as const

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** A promise, and what settles it. */
function later<T = void>() {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

describe('the caller', () => {
  it('gets the result of legacy itself, whatever next does', async () => {
    const { comparison, mismatches } = startComparison()
    const result = { id: 'u1' }
    const next = () => Promise.reject(new TypeError('broken'))
    const getUser = comparison.compare(async () => result, next, READ)
    expect(await getUser()).toBe(result)
    await comparison.idle()
    expect(mismatches).toMatchObject([{ outcome: 'mismatch', legacy: { did: 'returned' }, next: { did: 'threw TypeError' } }])
  })

  it('gets the error of legacy itself, also where next answers', async () => {
    const { comparison, mismatches } = startComparison()
    const error = new RangeError('no such user')
    const getUser = comparison.compare(
      () => Promise.reject(error),
      async () => 1,
      READ,
    )
    await expect(getUser()).rejects.toBe(error)
    await comparison.idle()
    expect(mismatches).toMatchObject([{ legacy: { did: 'threw RangeError' }, next: { did: 'returned', value: 1 } }])
  })

  it('never waits for next, and next that hangs has failed', async () => {
    const { comparison, mismatches, move } = startComparison({ diff: { deadlineMs: 500, learnEvery: 0 } })
    const called = later<AbortSignal>()
    const next = (_: number, { signal }: { signal: AbortSignal }) => {
      called.resolve(signal)
      return new Promise<number>(() => {})
    }
    const getUser = comparison.compare(async (n: number, _: { signal: AbortSignal }) => n, next, READ)
    expect(await getUser(1, { signal: new AbortController().signal })).toBe(1)
    const signal = await called.promise
    expect(signal.aborted).toBe(false)
    move(500)
    await comparison.idle()
    expect(signal.aborted).toBe(true)
    expect(mismatches).toMatchObject([{ outcome: 'error', reason: 'v2 did not answer within 500 ms where v1 returned' }])
  })

  it('starts no more of what hangs than may wait', async () => {
    const { comparison, move } = startComparison({ diff: { deadlineMs: 500, waiting: 2, parallel: 1, learnEvery: 0 } })
    let calls = later()
    let count = 0
    const next = () => {
      count += 1
      calls.resolve()
      return new Promise<number>(() => {})
    }
    const getUser = comparison.compare(async (n: number) => n, next, READ)
    for (const n of [1, 2]) {
      calls = later()
      await getUser(n)
      await calls.promise
      move(500)
      await comparison.idle()
    }
    await getUser(3)
    await comparison.idle()
    expect(count).toBe(2)
    expect(comparison.report().operations[0]?.uncompared).toEqual({ waiting: 1 })
  })

  it('keeps its arguments, whatever either side does to them', async () => {
    const { comparison, mismatches } = startComparison()
    const seen: unknown[] = []
    const legacy = async (query: { ids: string[] }) => query.ids.splice(0).length
    const next = async (query: { ids: string[] }) => {
      seen.push([...query.ids])
      return query.ids.splice(0).length
    }
    const query = { ids: ['a', 'b'] }
    await comparison.compare(legacy, next, READ)(query)
    await comparison.idle()
    expect({ query, seen, mismatches }).toEqual({ query: { ids: [] }, seen: [['a', 'b']], mismatches: [] })
  })

  it('may change the result, and the comparison has what it was', async () => {
    const { comparison, mismatches } = startComparison()
    const getUser = comparison.compare(
      async () => ({ id: 'u1' }),
      async () => ({ id: 'u1' }),
      READ,
    )
    const result = await getUser()
    result.id = 'changed'
    await comparison.idle()
    expect(mismatches).toEqual([])
    expect(comparison.report().operations[0]?.matches).toBe(1)
  })

  it('may give up, and the call is then not compared', async () => {
    const { comparison } = startComparison()
    let nexts = 0
    const caller = new AbortController()
    const legacy = async ({ signal }: { signal: AbortSignal }) => {
      caller.abort()
      signal.throwIfAborted()
    }
    const getUser = comparison.compare(
      legacy,
      async () => {
        nexts += 1
      },
      READ,
    )
    await expect(getUser({ signal: caller.signal })).rejects.toThrow('aborted')
    await comparison.idle()
    expect(nexts).toBe(0)
    expect(comparison.report().operations[0]?.uncompared).toEqual({ gone: 1 })
  })

  it('gives both sides the object and the context of its call', async () => {
    const { comparison, mismatches } = startComparison()
    const tenants = new AsyncLocalStorage<string>()
    const side = async function (this: { base: string }) {
      return `${this.base}/${tenants.getStore()}`
    } as () => Promise<string>
    const api = { base: '/users', get: comparison.compare(side, side, READ) }
    expect(await tenants.run('t1', () => api.get())).toBe('/users/t1')
    await comparison.idle()
    expect(mismatches).toEqual([])
    expect(comparison.report().operations[0]?.matches).toBe(1)
  })

  it('is not compared where arguments cannot be copied, and one warning says so', async () => {
    class Pool {}
    const { comparison, warnings } = startComparison()
    const side = async (_: Pool, n: number) => n
    const shared = comparison.compare(side, side, READ)
    const copied = comparison.compare(side, side, { ...READ, name: 'users.copied', copy: ([pool, n]) => [pool, n] })
    for (const n of [1, 2]) await shared(new Pool(), n)
    await copied(new Pool(), 1)
    await comparison.idle()
    expect(warnings).toEqual([
      'users.get: the arguments cannot be copied: they contain an object of the class Pool. Its calls are not compared; give the option copy.',
    ])
    const [all, one] = ['users.get', 'users.copied'].map((id) => comparison.report().operations.find(({ operation }) => operation === id))
    expect([all?.uncompared, all?.n, one?.n]).toEqual([{ uncopied: 2 }, 0, 1])
  })

  it('is counted when the option shape throws', async () => {
    const { comparison, warnings } = startComparison()
    const side = async (user: { readonly id: string } | undefined) => user?.id
    const getUser = comparison.compare(side, side, { ...READ, shape: (user) => (user as { readonly id: string }).id })
    await getUser({ id: 'a' })
    for (let n = 0; n < 9; n += 1) await getUser(undefined)
    await comparison.idle()
    const [all] = comparison.report().operations
    expect(warnings).toEqual([expect.stringContaining('the option shape threw TypeError')])
    expect([all?.booked?.uses, all?.calls]).toEqual([10, 10])
  })

  it('is compared with an argument whose getter throws, if the option copy can copy it', async () => {
    const { comparison } = startComparison()
    const side = async ({ id }: { readonly id: number }) => id
    const getUser = comparison.compare(side, side, { ...READ, copy: ([{ id }]) => [{ id }] })
    const lazy = {
      id: 1,
      get orders(): never {
        throw new Error('not loaded')
      },
    }
    await getUser(lazy)
    await comparison.idle()
    expect(comparison.report().operations[0]).toMatchObject({ matches: 1, calls: 1 })
  })

  it('is as before when the options themselves fail', async () => {
    const { comparison, warnings } = startComparison(
      {},
      {
        onMismatch: () => {
          throw new Error('full')
        },
      },
    )
    const fail = () => {
      throw new Error('no')
    }
    const options = { ...READ, mode: fail, caller: fail, shape: fail, show: fail }
    const getUser = comparison.compare(
      async () => 1,
      async () => 2,
      options,
    )
    expect(await getUser()).toBe(1)
    const told = comparison.compare(
      async () => 1,
      async () => 2,
      { ...READ, name: 'told' },
    )
    expect(await told()).toBe(1)
    await comparison.idle()
    expect(warnings).toEqual([
      'users.get: the option caller threw Error: no.',
      'users.get: mode threw Error: no; legacy answers.',
      'onMismatch threw Error: full',
    ])
  })

  it('asks as often as it likes, and little is held', async () => {
    const stage = startComparison({ diff: { waiting: 10, parallel: 1 } })
    const page = async (n: number) => ({ n, text: Buffer.alloc(10_000, `${n} `).toString('latin1') })
    const getPage = stage.comparison.compare(page, page, READ)
    collect()
    const before = process.memoryUsage().heapUsed
    await Promise.all(Array.from({ length: 10_000 }, (_, n) => getPage(n).then(({ n }) => n)))
    collect()
    // All results together are 100 MB, and those that wait 0.2 MB.
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(30_000_000)
    const { uncompared = {} } = stage.comparison.report().operations[0] ?? {}
    expect(uncompared.waiting).toBe(10_000 - 10)
    await stage.comparison.idle()
    expect(stage.comparison.report().operations[0]).toMatchObject({ comparisons: 10, calls: 10_000 })
  })

  it('holds no timer when the group is closed, and is answered as before', async () => {
    const stage = startComparison()
    let nexts = 0
    const getUser = stage.comparison.compare(
      async (n: number) => n,
      async (n: number) => {
        nexts += 1
        return n
      },
      READ,
    )
    await callMany(getUser, 3, stage)
    await stage.comparison.close()
    expect(stage.count()).toBe(0)
    expect([await getUser(9), nexts]).toEqual([9, 3])
  })
})

describe('a wrong use', () => {
  it('is one of the compiler', async () => {
    const slow = async (id: string) => id.length
    // @ts-expect-error A function that returns no promise.
    compare((id: string) => id.length, slow, READ)
    // @ts-expect-error Other arguments.
    compare(slow, async (id: number) => id, READ)
    // @ts-expect-error Another result.
    compare(slow, async (id: string) => id, READ)
    // @ts-expect-error Nobody says whether it may be repeated.
    expect(() => compare(slow, slow, { name: 'users.get' })).toThrow('isRead of users.get must be true')
    const found: number = await compare(slow, slow, READ)('u1')
    expect(found).toBe(2)
  })

  it.each([
    [{ name: 'a b', isRead: true }, 'name is "a b", but it must have 1 to 100 letters'],
    [{ name: 'a' }, 'isRead of a must be true, or false if a call may change something.'],
    [{ name: 'a', isRead: true, mode: 'v3' }, 'mode of a is "v3", but it must be one of v1, v2, diff-v1, diff-v2.'],
    [{ name: 'a', isRead: true, canary: { mode: 'diff-v2', percent: 5 } }, 'canary of a needs the option caller'],
    [
      { name: 'a', isRead: true, canary: { mode: 'diff-v2', percent: 500 }, caller: String },
      'The canary of a is wrong: percent must be a number from 0 to 100.',
    ],
  ])('is told in a sentence: %j', (options, sentence) => {
    const side = async () => 1
    expect(() => startComparison().comparison.compare(side, side, options as never)).toThrow(sentence)
  })

  it.each([
    [{ diff: { parallel: 0 } }, {}, 'diff.parallel is 0 in the settings, but it must be a whole number from 1 to 1000.'],
    [{ listen: { port: 1 } }, {}, 'listen.port cannot be given here: it has no meaning where functions are compared.'],
    [{}, { target: 1 }, 'target is 1, but it must be more than 0 and less than 1.'],
  ])('of a group is told in a sentence: %j %j', (settings, options, sentence) => {
    expect(() => startComparison(settings as never, options)).toThrow(sentence)
  })

  it('is the name of other functions', () => {
    const { comparison } = startComparison()
    const side = async () => 1
    comparison.compare(side, side, READ)
    expect(() => compare(side, side, { ...READ, comparison })).toThrow('name is "users.get" for other functions too')
  })
})
