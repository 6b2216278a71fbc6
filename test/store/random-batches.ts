import fc, { type Arbitrary } from 'fast-check'
import type { Kinds, StoreChange } from '../../src/fleet/store/store.ts'

/** Few names and fields, so that changes meet. Each kind of sums has names of its own. */
const FIELDS = fc.constantFrom('match', 'mismatch', '', 'é\n"')
const sums = fc.dictionary(
  FIELDS,
  fc.integer({ min: 0, max: 9 }).map((quarters) => quarters / 4),
  { maxKeys: 3 },
)
const name = fc.constantFrom('one', 'two')
const some = (most: number) => fc.integer({ min: 0, max: most })
/** Long, so that nothing is forgotten while a test runs. */
const HOUR = 3_600_000
const ms = fc.constantFrom(0, HOUR)
/** A time long ago is far from each claim of now. */
const BASE = 1_790_000_000_000

/** Any change. */
export const anyChange: Arbitrary<StoreChange> = fc.oneof(
  fc.record({ kind: fc.constant('add' as const), name, sums }),
  fc
    .record({ kind: fc.constantFrom('most' as const, 'least' as const), name, sums })
    .map((one) => ({ ...one, name: `${one.kind} ${one.name}` })),
  claim(some(4).map((minutes) => BASE + minutes * 30_000)),
  fc.record({
    kind: fc.constant('join' as const),
    name: name.map((one) => `join ${one}`),
    field: FIELDS,
    member: fc.constantFrom('a', 'b', 'c'),
    most: some(3),
  }),
  fc.record({ kind: fc.constant('draw' as const), name: name.map((one) => `draw ${one}`), amount: some(5), most: some(12) }),
  fc.record({ kind: fc.constantFrom('write' as const, 'mark' as const), name, field: FIELDS, text: fc.constantFrom('', 'a', 'b') }),
  fc.record({ kind: fc.constant('log' as const), name, text: fc.string({ maxLength: 3 }), items: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ kind: fc.constant('lease' as const), name, ms }),
  fc.record({ kind: fc.constant('raise' as const), name, version: some(6), text: fc.constantFrom('a', 'b') }),
  fc.record({ kind: fc.constant('beat' as const), text: fc.string({ maxLength: 3 }), ms: fc.constant(HOUR) }),
)

/** A change whose effect is the same in whatever order batches arrive. */
export const anyOrder: Arbitrary<StoreChange> = fc.oneof(
  fc.record({ kind: fc.constant('add' as const), name, sums }),
  fc
    .record({ kind: fc.constantFrom('most' as const, 'least' as const), name, sums })
    .map((one) => ({ ...one, name: `${one.kind} ${one.name}` })),
  claim(fc.constant(BASE)).map((one) => ({ ...one, name: `claims of ${one.key}` })),
  fc.record({
    kind: fc.constant('join' as const),
    name: fc.constant('join'),
    field: FIELDS,
    member: fc.constantFrom('a', 'b', 'c', 'd'),
    most: fc.constant(3),
  }),
  fc.record({ kind: fc.constant('raise' as const), name, version: some(6) }).map((one) => ({ ...one, text: `of ${one.version}` })),
)

function claim(at: Arbitrary<number>): Arbitrary<Extract<StoreChange, { kind: 'claim' }>> {
  const key = fc.constantFrom('k', 'l', 'm')
  const [first, again] = [fc.constant({ n: 1 }), fc.constant({ repeats: 1, more: 0.5 })]
  return fc.record({ kind: fc.constant('claim' as const), key, at, ms: fc.constant(60_000), name, first, again })
}

/** Everything that random changes can have changed. */
export const PLACES: readonly (readonly [kind: keyof Kinds, name: string])[] = [
  ...['one', 'two', 'most one', 'most two', 'least one', 'least two', 'join', 'join one', 'join two', 'draw one', 'draw two'].map(
    (place) => ['sums', place] as const,
  ),
  ...['k', 'l', 'm'].map((key) => ['sums', `claims of ${key}`] as const),
  ...(['texts', 'log', 'lease', 'document'] as const).flatMap((kind) => [[kind, 'one'] as const, [kind, 'two'] as const]),
  ['replicas', ''],
]
