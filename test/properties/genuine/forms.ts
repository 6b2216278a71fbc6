import fc, { type Arbitrary } from 'fast-check'
import type { Member, Type, V1Message, V1Scalar, Vocabulary } from '../../../src/sandbox/v1/message.ts'

type Json = Record<string, unknown>

/** v1 values that v2 has no name for. Nothing behind a proxy can hold them (facts §18). */
const V1_ALONE = /^ECOSYSTEM_(JAVASCRIPT|DOTNET|GO|.*ATHENA)|^TYPE_UBUNTU$/

const words = fc.string({ minLength: 1, maxLength: 6 })
const int32 = fc.integer({ min: 1, max: 2 ** 31 - 1 })
/** The members of type bytes, which the sandbox keeps as text. Another text than base64 is not a value of theirs. */
const BYTES: ReadonlySet<string> = new Set(['findings'])
const base64 = fc.uint8Array({ minLength: 1, maxLength: 6 }).map((bytes) => Buffer.from(bytes).toString('base64'))
/** UTC with milliseconds, the only form that every side leaves unchanged. */
const times = fc.date({ noInvalidDate: true, min: new Date(0), max: new Date('2100-01-01T00:00:00Z') }).map((date) => date.toISOString())

/** Values other than zero. A zero means unset to a store, so the drawn form leaves the member out. */
const SCALARS: Readonly<Record<V1Scalar, Arbitrary<unknown>>> = {
  string: words,
  bool: fc.constant(true),
  int32,
  uint32: int32,
  int64: fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }).map(String),
  timestamp: times,
  duration: fc.integer({ min: 1, max: 1e6 }).map((seconds) => `${seconds}s`),
}

/** Draws a stored, v2-shaped row for a message of the genuine v1: members set and unset, enum names that v1 does not know. */
export function rows(message: V1Message): Arbitrary<Json> {
  return drawn({
    members: message.members.filter(({ flow }) => flow !== 'in'),
    name: ({ from }) => from,
    names: ({ toV1 }) => [...toV1.keys()].filter((name) => !V1_ALONE.test(name)).concat('A_NAME_THAT_IS_NEW'),
    message: rows,
  })
}

/** Draws a v1 body with any of the message's members, in either spelling. */
export function bodies(message: V1Message): Arbitrary<Json> {
  const spelled = (name: Drawing['name']): Arbitrary<Json> => drawn({ members: message.members, name, names: written, message: bodies })
  return fc.oneof(
    spelled(({ name }) => name),
    spelled(({ json }) => json),
  )
}

/** True if a value is none of messages, lists and maps alone. */
export const holdsAny = (value: unknown): boolean =>
  typeof value === 'object' && value !== null ? Object.values(value).some(holdsAny) : value !== undefined

/** Returns each member that a body may set, at any depth, with a body that sets it alone, to another value than zero. */
export function alone(message: V1Message, above = ''): readonly (readonly [path: string, body: Arbitrary<Json>])[] {
  const drawing: Drawing = { members: message.members, name: ({ name }) => name, names: written, message: bodies }
  return message.members
    .filter(({ flow }) => flow !== 'out')
    .flatMap((member): readonly (readonly [string, Arbitrary<Json>])[] => {
      const { name, type, shape } = member
      const path = above + name
      if (type.kind === 'message' && shape === 'one')
        return alone(type.message, `${path}.`).map(([inner, body]) => [inner, body.map((value) => ({ [name]: value }))])
      return [
        [
          path,
          shaped(member, drawing)
            .filter(holdsAny)
            .map((value) => ({ [name]: value })),
        ],
      ]
    })
}

/** Returns the names and numbers of an enum that a body may hold. */
function written({ toStored, byNumber }: Vocabulary): readonly (string | number)[] {
  const names = [...toStored].filter(([, stored]) => !V1_ALONE.test(stored)).map(([v1]) => v1)
  return [...names, ...[...byNumber].filter(([, v1]) => names.includes(v1)).map(([number]) => number)]
}

interface Drawing {
  readonly members: readonly Member[]
  readonly name: (member: Member) => string
  readonly names: (values: Vocabulary) => readonly (string | number)[]
  readonly message: (message: V1Message) => Arbitrary<Json>
}

function drawn(drawing: Drawing): Arbitrary<Json> {
  const { members, name } = drawing
  const groups = [...new Set(members.flatMap(({ presence }) => presence ?? []))]
  const siblings = (group: string) => members.filter(({ presence }) => presence === group)
  const chosen = fc.record(Object.fromEntries(groups.map((group) => [group, fc.constantFrom(undefined, ...siblings(group))])))
  const values = fc.tuple(...members.map((member) => fc.option(shaped(member, drawing), { nil: undefined })))
  return fc.tuple(chosen, values).map(([turn, all]) =>
    Object.fromEntries(
      members.flatMap((member, at): [string, unknown][] => {
        const absent = all[at] === undefined || (member.presence !== undefined && turn[member.presence] !== member)
        return absent ? [] : [[name(member), all[at]]]
      }),
    ),
  )
}

function shaped({ name, type, shape }: Member, drawing: Drawing): Arbitrary<unknown> {
  if (BYTES.has(name)) return base64
  if (shape === 'list' && type.kind === 'enum') return fc.shuffledSubarray([...drawing.names(type.values)])
  const one = draw(type, drawing)
  if (shape === 'list') return fc.array(one, { maxLength: 3 })
  return shape === 'map' ? fc.dictionary(words, one, { maxKeys: 3, noNullPrototype: true }) : one
}

function draw(type: Type, { names, message }: Drawing): Arbitrary<unknown> {
  if (type.kind === 'message') return message(type.message)
  return type.kind === 'enum' ? fc.constantFrom(...names(type.values)) : SCALARS[type.scalar]
}
