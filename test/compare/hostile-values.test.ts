import { expect, it } from 'vitest'
import { startComparison } from './given.ts'

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
  'very many members': () => Object.fromEntries(Array.from({ length: 50_000 }, (_, nth) => [`m${nth}`, nth])),
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
