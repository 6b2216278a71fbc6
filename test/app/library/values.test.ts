import { describe, expect, it } from 'vitest'
import { copyArguments, snapshotOf } from '../../../src/app/library/values.ts'
import type { Entry } from '../../../src/migrate/records/record.ts'
import { isFull } from '../../sample.ts'
import { startComparison } from './stage.ts'

describe('values', () => {
  const READ = { name: 'users.get', isRead: true } as const

  class Money {
    readonly #secret = 1
    cents() {
      return this.#secret
    }
  }

  class Gone extends Error {}

  class Point {
    readonly x = 1
    readonly y = 2
  }

  /** Text that begins with a letter is a name. */
  const LIMITS = { limit: 10_000, isName: (name: string) => /^[a-z]+$/.test(name) }

  const cycle: { self?: unknown } = {}
  cycle.self = cycle

  describe('a result', () => {
    it.each<[string, unknown, unknown]>([
      ['plain data', { a: [1, 'b', null, true] }, { a: [1, 'b', null, true] }],
      ['nothing', undefined, undefined],
      ['undefined members and rows', { a: undefined, b: [undefined] }, { b: [null] }],
      ['a Date', new Date('2026-01-01T00:00:00Z'), { Date: '2026-01-01T00:00:00.000Z' }],
      ['a wrong Date', new Date(Number.NaN), { Date: 'invalid' }],
      ['numbers that JSON lacks', [5n, Number.NaN, -Infinity], [{ BigInt: '5' }, { Number: 'NaN' }, { Number: '-Infinity' }]],
      ['a Map', new Map([['b', 1]]), { Map: [{ id: '"b"', value: 1 }] }],
      ['a Set in another order', new Set(['b', 'a']), { Set: ['a', 'b'] }],
      ['bytes', new Uint8Array([0, 1]), { Bytes: 'AAE=' }],
      ['an error of a class without a name', new Gone(), { Error: { Gone: true } }],
      ['an error', Object.assign(new TypeError('text'), { code: 'E_BAD' }), { Error: { TypeError: { E_BAD: true } } }],
      ['an object with toJSON', new URL('https://example.com/'), 'https://example.com/'],
      ['an object of a class', new Point(), { x: 1, y: 2 }],
    ])('is compared as JSON: %s', (_, value, json) => {
      expect(snapshotOf(value, LIMITS).body).toEqual({ kind: 'json', value: json })
    })

    it.each<[string, unknown, string]>([
      ['a function', { close: () => 1 }, 'a function at /close, which cannot be compared; show it as JSON with the option show'],
      ['a symbol', [Symbol('a')], 'a symbol at /*, which'],
      ['a class that hides all', { price: new Money() }, 'an object of the class Money without members of its own at /price, which'],
      ['a function below a key that is data', { 'u@x.org': { close: () => 1 } }, 'a function at /*/close, which'],
      ['a cycle', cycle, 'a value in a cycle, or one that is nested too deeply, which'],
      [
        'a getter that throws',
        {
          get a() {
            throw new RangeError('no')
          },
        },
        'a value that cannot be read: RangeError',
      ],
    ])('cannot be compared: %s', (_, value, because) => {
      expect(snapshotOf(value, LIMITS).body).toEqual({ kind: 'no-value', because: expect.stringContaining(because) })
    })

    it('that is larger than diff.answerBytes is not compared', () => {
      expect(snapshotOf(Buffer.alloc(20_000), LIMITS).body.kind).toBe('too-large')
      expect(snapshotOf(['x'.repeat(100)], { ...LIMITS, limit: 50 }).body).toEqual({ kind: 'too-large', limit: 50 })
    })

    /** Calls two functions once, and compares what they do. */
    const comparedOnce = async (legacy: () => unknown, next: () => unknown) => {
      const { comparison, mismatches } = startComparison()
      const compared = comparison.compare(
        async () => legacy(),
        async () => next(),
        READ,
      )
      await compared().catch(() => undefined)
      await comparison.idle()
      return { seen: comparison.report().operations[0], mismatches }
    }

    it.each<[string, () => unknown, () => unknown, string]>([
      ['a Date and its text', () => new Date(0), () => '1970-01-01T00:00:00.000Z', 'type '],
      ['two Maps', () => new Map([['a', 1]]), () => new Map([['a', 2]]), 'value /Map/*/value'],
      ['a member deep below', () => ({ a: { b: { c: 1 } } }), () => ({ a: { b: { c: 2 } } }), 'value /a/b/c'],
      ['a key that is data', () => ({ 'u@x.org': 1 }), () => ({ 'u@x.org': 2 }), 'value /*'],
      ['errors of other codes', () => fail('E_A'), () => fail('E_B'), 'extra /threw/Error/E_B, missing /threw/Error/E_A'],
    ])('that differs is found: %s', async (_, legacy, next, wanted) => {
      const { seen } = await comparedOnce(legacy, next)
      expect({
        found: seen?.differences
          .map(({ kind, where }) => `${kind} ${where}`)
          .sort()
          .join(', '),
        mismatches: seen?.mismatches,
      }).toEqual({ found: wanted, mismatches: 1 })
    })

    it.each<[string, () => unknown, () => unknown]>([
      ['errors with other messages', () => fail('E_A', 'one'), () => fail('E_A', 'two')],
      ['members in another order', () => ({ a: 1, b: 2 }), () => ({ b: 2, a: 1 })],
      ['Sets in another order', () => new Set([1, 2]), () => new Set([2, 1])],
    ])('is the same: %s', async (_, legacy, next) => {
      const { seen, mismatches } = await comparedOnce(legacy, next)
      expect([seen?.matches, mismatches]).toEqual([1, []])
    })

    it('without a form is inconclusive, and the report says where', async () => {
      const { comparison } = startComparison()
      const side = async () => ({ close: () => 1 })
      await comparison.compare(side, side, READ)()
      await comparison.idle()
      const [seen] = comparison.report().operations
      expect([seen?.inconclusive, seen?.n, seen?.differences[0]?.where]).toEqual([
        1,
        0,
        'v1 returned a function at /close, which cannot be compared; show it as JSON with the option show',
      ])
    })

    it('is compared as the option show shows it', async () => {
      const { comparison } = startComparison()
      const side = (n: number) => async () => ({ id: 'u1', at: n })
      await comparison.compare(side(1), side(2), { ...READ, show: ({ id }) => id })()
      await comparison.idle()
      expect(comparison.report().operations[0]?.matches).toBe(1)
    })
  })

  function fail(code: string, message = 'text'): never {
    throw Object.assign(new Error(message), { code })
  }

  describe('arguments', () => {
    it('are copied with their cycles, and share nothing', () => {
      const given = [cycle, new Date(0), new Map([['a', [1]]]), new Set([{ a: 1 }]), Buffer.from('ab'), new URL('https://a.example/'), /a/g]
      const copied = copyArguments(given, undefined)
      expect(copied).toEqual(given)
      expect(copied.filter((one, nth) => one === given[nth])).toEqual([])
      expect((copied[0] as typeof cycle).self).toBe(copied[0])
    })

    it('keep members that a symbol names, and rows that are empty', () => {
      const less = Symbol('less')
      const [query, rows] = copyArguments([{ where: { age: { [less]: 30 } } }, new Array(3)], undefined)
      expect(query).toEqual({ where: { age: { [less]: 30 } } })
      expect(rows).toEqual(new Array(3))
    })

    it('keep the code of an error, and its class or nothing', () => {
      const [copied] = copyArguments([Object.assign(new TypeError('text'), { code: 'E_BAD' })], undefined)
      expect(copied).toBeInstanceOf(TypeError)
      expect(copied).toMatchObject({ message: 'text', code: 'E_BAD' })
      expect(() => copyArguments([new Gone()], undefined)).toThrow(expect.objectContaining({ because: 'an object of the class Gone' }))
    })

    it('keep a member called __proto__ a member', () => {
      const [copied] = copyArguments([JSON.parse('{"__proto__":{"isAdmin":true}}')], undefined)
      expect(Object.getPrototypeOf(copied)).toBe(Object.prototype)
      expect(Object.keys(copied as object)).toEqual(['__proto__'])
    })
  })

  describe('what is recorded', () => {
    async function recorded(values?: 'shown') {
      const entries: Entry[] = []
      const { comparison } = startComparison(values && { records: { values } }, { onEntry: (entry) => entries.push(entry) })
      const side = (domain: string) => async (name: string) => ({ email: `${name}@${domain}`, token: 's3cr3t-token', 'k@x.org': 1 })
      await comparison.compare(side('old.example'), side('new.example'), { ...READ, caller: (name) => name })('alice')
      await comparison.idle()
      return JSON.stringify(entries.filter(({ kind }) => kind === 'comparison'))
    }

    it('has the names of members, and masked values', async () => {
      const text = await recorded()
      expect(text).toContain('/email')
      expect(text).not.toMatch(/alice|\.example|s3cr3t|x\.org/)
    })

    it('has the values and the arguments if the owner asks for them, but no secret', async () => {
      const text = await recorded('shown')
      expect(text).toContain('alice@new.example')
      expect(text).toContain('args=')
      expect(text).not.toContain('s3cr3t')
    })
  })
})

describe('hostile values', () => {
  const READ = { name: 'users.get', isRead: true } as const

  /** Milliseconds after which a call or its comparison counts as one that hangs. */
  const PATIENCE = 60_000

  const fail = () => {
    throw new RangeError('hostile')
  }

  const thrown = (value: unknown) => {
    throw value
  }

  /** A proxy each of whose members is another one, without end. */
  const endless = (): object =>
    new Proxy(
      {},
      {
        ownKeys: () => ['a', 'b', 'c'],
        getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }),
        get: (_, name) => (['a', 'b', 'c'].includes(String(name)) ? endless() : undefined),
      },
    )

  const revoked = () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    return proxy
  }

  const traps = ['get', 'has', 'ownKeys', 'getPrototypeOf', 'getOwnPropertyDescriptor'] as const

  const turning = (): object => ({ toJSON: turning })

  const deep = () => {
    let value: object = {}
    for (let level = 0; level < 100_000; level += 1) value = { value }
    return value
  }

  const wide = () => {
    let value: object = { x: 1 }
    for (let level = 0; level < 40; level += 1) value = { a: value, b: value, c: value }
    return value
  }

  const cycle = () => {
    const value: { self?: unknown; map: Map<unknown, unknown> } = { map: new Map() }
    value.self = value
    value.map.set(value, value.map)
    return value
  }

  const HOSTILE: Readonly<Record<string, () => unknown>> = {
    ...Object.fromEntries(traps.map((trap) => [`a proxy that throws at ${trap}`, () => new Proxy({}, { [trap]: fail })])),
    'a proxy without an end': endless,
    'a proxy that is revoked': revoked,
    'a revoked proxy in a list': () => [revoked()],
    'a getter that throws': () => Object.defineProperty({}, 'a', { get: fail, enumerable: true }),
    'a getter that throws what throws again': () =>
      Object.defineProperty({}, 'a', { get: () => thrown(new Proxy({}, { get: fail, getPrototypeOf: fail })), enumerable: true }),
    'a toJSON that throws': () => ({ toJSON: fail }),
    'a toJSON that returns another one': turning,
    'a cycle': cycle,
    'very many levels': deep,
    'a value that triples at each level': wide,
    'a list with nothing but a length': () => Object.assign([], { length: 2 ** 32 - 1 }),
    'a list with holes': () => Object.assign([], { [2 ** 31]: 1 }),
    'a Map that never ends': () =>
      Object.defineProperty(new Map([['a', 1]]), Symbol.iterator, {
        *value() {
          for (;;) yield ['a', 1]
        },
      }),
    'a Date that throws': () => Object.assign(new Date(0), { toISOString: fail, toJSON: fail, valueOf: fail }),
    'an error whose members throw': () => Object.defineProperty(new Error('a'), 'code', { get: fail, enumerable: true }),
    'an error whose constructor throws': () => Object.defineProperty(new Error('a'), 'constructor', { get: fail }),
    'a class whose name throws': () => Object.create({ constructor: Object.defineProperty(class {}, 'name', { get: fail }) }),
    'a tag that throws': () => Object.defineProperty({}, Symbol.toStringTag, { get: fail }),
    'a then that throws': () => Object.defineProperty({}, 'then', { get: fail }),
    '__proto__ as a member': () => JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'),
    'a text of 64 MiB': () => 'x'.repeat(2 ** 26),
    'bytes of 64 MiB': () => Buffer.alloc(2 ** 26),
    'very many members': () => Object.fromEntries(Array.from({ length: isFull ? 50_000 : 12_000 }, (_, nth) => [`m${nth}`, nth])),
    'a number that JSON lacks': () => [Number.NaN, 1n, -0, Number.POSITIVE_INFINITY],
    'half of a surrogate': () => ({ '\ud800': '\udfff' }),
  }

  type Call = (value: unknown) => Promise<unknown>

  interface Case {
    /** Whether the caller gives the value, or each side makes its own. */
    readonly isGiven?: true
    readonly legacy: Call
    readonly next: Call
  }

  /** What each side does with a value: returns it, throws it, or takes it alone. */
  const CASES: Readonly<Record<string, Case>> = {
    returned: { legacy: async () => 'own', next: async (value) => ({ value }) },
    'returned by both': { legacy: async (value) => ({ value }), next: async (value) => ({ value }) },
    thrown: { legacy: async () => 'own', next: (value) => Promise.reject(value) },
    'thrown by both': { legacy: (value) => Promise.reject(value), next: (value) => Promise.reject(value) },
    'given alone': { isGiven: true, legacy: async () => 'own', next: async () => 'own' },
  }

  it.each(Object.entries(HOSTILE))('neither harms its caller nor hangs: %s', { timeout: PATIENCE }, async (_, make) => {
    for (const [what, { isGiven, legacy, next }] of Object.entries(CASES)) {
      const { comparison } = startComparison({ diff: { deadlineMs: 500 } })
      const call = comparison.compare(
        async (given: unknown) => legacy(isGiven ? given : make()),
        async (given: unknown) => next(isGiven ? given : make()),
        READ,
      )
      const got = await call(isGiven && make()).then(
        (value) => ({ value }),
        () => 'thrown',
      )
      await comparison.idle()
      if (what === 'thrown by both') expect([what, got]).toEqual([what, 'thrown'])
      else if (what !== 'returned by both') expect([what, got]).toEqual([what, { value: 'own' }])
      await comparison.close()
    }
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })
})
