import { isRecord, type JsonPlace, placesIn, replaced, withoutMember } from './json-places.ts'
import { another } from './lists.ts'
import { type Mutation, withBody } from './mutation.ts'

/** A changed value, and how it came about. */
interface Change {
  readonly name: string
  readonly to: unknown
  readonly respells?: true
}

const TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?Z$/
const WORDS = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/
const INTEGER = /^-?\d+$/

/** Mutations of every leaf, object and list of a body: one place of each pattern, chosen by `random`. */
export function leafMutations(body: unknown, random: () => number): readonly Mutation[] {
  return placesIn(body, random).flatMap((place) => [...valueMutations(body, place), ...exchanged(body, place)])
}

/** Other values, null, another type, and no value. */
function valueMutations(body: unknown, { at, value, isMember }: JsonPlace): readonly Mutation[] {
  const changes = [...changesOf(value), ...(value === null ? [] : [{ name: 'null', to: null }])]
  const changed = changes.map(({ name, to, respells }: Change): Mutation => {
    return { name: `${name} at ${at}`, ...(respells && { respells }), apply: (answer) => withBody(answer, replaced(body, at, to)) }
  })
  const dropped: Mutation = { name: `dropped ${at}`, apply: (answer) => withBody(answer, withoutMember(body, at)) }
  return isMember ? [...changed, dropped] : changed
}

/** The value that another row has in the same place: stale, or mistaken for it. */
function exchanged(body: unknown, { at, value, others }: JsonPlace): readonly Mutation[] {
  const other = others.find((one) => !isRecord(one) && !Array.isArray(one) && one !== value)
  return other === undefined ? [] : [{ name: `of another row at ${at}`, apply: (answer) => withBody(answer, replaced(body, at, other)) }]
}

function changesOf(value: unknown): readonly Change[] {
  if (typeof value === 'string') return [...textChanges(value), to('a number', 7), to('a flag', true), to('a list', [value])]
  if (typeof value === 'number') return [...numberChanges(value), to('a text', 'seven'), to('a flag', true)]
  if (typeof value === 'boolean') return [to('turned', !value), to('a text', 'perhaps'), to('a number', 7)]
  if (value === null) return [to('a text', 'x'), to('a number', 7)]
  if (Array.isArray(value)) return [to('an object', {}), to('a text', 'x')]
  return [to('emptied', {}), to('a list', []), to('a text', 'x'), to('an extra member', { ...(value as object), surprise: 1 })]
}

function textChanges(text: string): readonly Change[] {
  const [, until = '', fraction = ''] = TIME.exec(text) ?? []
  if (until !== '') {
    const later = new Date(Date.parse(text) + 1000).toISOString()
    return [to('later', later), to('no time', 'yesterday'), respelled('longer', `${until}.${fraction.padEnd(3, '0')}000Z`)]
  }
  if (INTEGER.test(text)) {
    const next = String(BigInt(text) + 1n)
    return [to('next', next), to('zero', text === '0' ? '3' : '0'), respelled('as a number', Number(text))]
  }
  if (WORDS.test(text)) return [to('unknown word', `${text}_OF_SORTS`), to('first word', text.split('_')[0])]
  if (text === '') return [to('filled', 'x')]
  return [to('another text', another(text)), to('longer', `${text}-x`), to('empty', '')]
}

function numberChanges(number: number): readonly Change[] {
  return [to('next', number + 1), to('negative', -number - 1), respelled('as a text', String(number))]
}

function to(name: string, value: unknown): Change {
  return { name, to: value }
}

function respelled(name: string, value: unknown): Change {
  return { name, to: value, respells: true }
}
