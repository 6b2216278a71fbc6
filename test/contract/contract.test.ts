import { beforeAll, describe, expect, test } from 'vitest'
import { differences } from '../../mappings/differences.ts'
import { mappings } from '../../mappings/index.ts'
import { isFull } from '../sample.ts'
import { cases } from './cases/index.ts'
import { complaintsAboutDocument, complaintsAboutList, complaintsOf, type Outcome, run } from './run.ts'
import { type Sides, startSides } from './stage.ts'
import type { Case, Dialect } from './target.ts'

const DIALECTS: readonly Dialect[] = ['specification', 'published']

/** Every sixteenth case that both dialects know is played in the published one too, unless CROSSWALK_SAMPLE is `full`. */
const EACH = isFull ? 1 : 16

/** The cases to play: of a sample those with a difference, one at least for each operation, and every eighth of the others. */
function sampleOf(all: readonly Case[]): readonly Case[] {
  if (isFull) return all
  const shown = new Set(all.flatMap(({ difference, operations }) => (difference ? operations : [])))
  return all.filter(({ difference, operations }, nth) => {
    const isPlayed = difference !== undefined || nth % 8 === 0 || operations.some((id) => !shown.has(id))
    if (isPlayed) for (const id of operations) shown.add(id)
    return isPlayed
  })
}

/** A case creates up to a thousand rows while others run. */
const PATIENCE = 60_000

const sides = new Map<Dialect, Sides>()

/** The outcomes of the cases in their own dialect, by name, for tests that judge one again. */
const played = new Map<string, Outcome>()

beforeAll(async () => {
  for (const dialect of DIALECTS) sides.set(dialect, await startSides(dialect))
})

/** Plays a case on both sides at the same time; the sides share nothing. */
async function play(one: Case, dialect: Dialect = one.dialect ?? 'specification'): Promise<Outcome> {
  const { genuine, proxied } = sides.get(dialect) as Sides
  const [there, here] = await Promise.all([run(one, genuine), run(one, proxied)])
  return { case: one, genuine: there, proxied: here }
}

describe.each(DIALECTS)('the v1 contract, %s dialect', { timeout: PATIENCE }, (dialect) => {
  const known = cases.filter((one) => (one.dialect ?? dialect) === dialect)
  const spoken = dialect === 'specification' ? sampleOf(known) : known.filter((one, nth) => one.dialect === dialect || nth % EACH === 0)
  const check = async (one: Case) => {
    const outcome = await play(one, dialect)
    if (dialect === (one.dialect ?? 'specification')) played.set(one.name, outcome)
    const complaints = [...complaintsOf(outcome, differences), ...complaintsAboutDocument(outcome, dialect)]
    if (complaints.length > 0) throw new Error(complaints.join('\n'))
  }

  // A case that only reads may read every row. Each other case keeps to its own folder.
  test.each(spoken.filter(({ reads }) => reads))('$name', check)
  test.concurrent.each(spoken.filter(({ reads }) => !reads))('$name', check)
})

describe('the contract as a whole', () => {
  const operations = mappings.flatMap((mapping) => mapping.operations)
  const ping = cases.find(({ name }) => name === 'ping needs no token') as Case

  /** The outcome of the case that proves a difference. It is played now, unless it was. */
  const pinned = async (code: string): Promise<Outcome> => {
    const one = cases.find(({ difference }) => difference === code) as Case
    return played.get(one.name) ?? play(one)
  }

  test('has one difference for each case that differs', () => {
    expect(complaintsAboutList(cases, differences)).toEqual([])
  })

  test('has unique names', () => {
    expect(cases.map(({ name }) => name).filter((name, at, all) => all.indexOf(name) !== at)).toEqual([])
  })

  test('covers every operation, served or not', () => {
    const shown = new Set(cases.flatMap((one) => one.operations))
    expect(operations.map(({ id }) => id).filter((id) => !shown.has(id))).toEqual([])
    expect([...shown].filter((id) => !operations.some((operation) => operation.id === id))).toEqual([])
  })

  test('fails a case that does not call an operation which it names', async () => {
    expect(complaintsOf(await play({ ...ping, operations: ['iam.roles.list'] }), differences)).toEqual(['iam.roles.list is not called'])
  })

  test.each(differences)('fails the case of $code when its code is removed', async ({ code }) => {
    const others = differences.filter((difference) => difference.code !== code)
    expect(complaintsOf(await pinned(code), others)).toEqual([`difference ${code} is not in mappings/differences.ts`])
  })

  test('fails an answer with a member that the OpenAPI document does not list', async () => {
    const outcome = await play(ping)
    expect(complaintsAboutDocument(outcome, 'specification')).toEqual([])
    const exchanges = outcome.genuine.exchanges.map(({ answer, ...rest }) => ({
      ...rest,
      answer: { ...answer, body: { response: '', more: 1 } },
    }))
    const [said] = complaintsAboutDocument({ ...outcome, genuine: { ...outcome.genuine, exchanges } }, 'specification')
    expect(said).toMatch(/^genuine: ping\.ping\.ping answers 200: .*"additionalProperty":"more"/)
  })

  test('fails false codes, operations and cases, and differences that no longer occur', async () => {
    const [first, ...rest] = differences
    if (!first) throw new Error('there is no difference')
    const listWith = (changed: Partial<typeof first>) => complaintsAboutList(cases, [{ ...first, ...changed }, ...rest])
    expect(listWith({ code: 'false' })).toContain(`difference false: no case "${first.test}" pins it`)
    expect(listWith({ operations: [...first.operations, 'iam.roles.list'] })).not.toEqual([])
    expect(listWith({ test: 'ping needs no token' })).not.toEqual([])
    expect(complaintsAboutList(cases, [first, ...differences])).toContain(`difference ${first.code} is declared twice`)
    const outcome = await pinned(first.code)
    expect(complaintsOf({ ...outcome, genuine: outcome.proxied }, differences)).toEqual([
      `difference ${first.code} no longer occurs: both sides answer alike`,
    ])
    expect(complaintsOf({ ...outcome, case: { ...outcome.case, operations: ['iam.roles.list'] } }, differences)).toEqual([
      'iam.roles.list is not called',
      `difference ${first.code} does not name iam.roles.list`,
    ])
    const { difference: _, ...undeclared } = outcome.case
    expect(complaintsOf({ ...outcome, case: undeclared }, differences).join()).toMatch(/^the sides differ and no difference is declared/)
  })
})
