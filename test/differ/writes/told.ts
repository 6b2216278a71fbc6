import { isRecord, placesIn, replaced, withoutMember } from '../mutate/json-places.ts'
import { leafMutations } from '../mutate/leaves.ts'
import { listMutations } from '../mutate/lists.ts'
import { type Mutation, withBody } from '../mutate/mutation.ts'
import type { RelayedAnswer, RelayedCall, Spoil } from '../stage/relay.ts'

/** What v2 did in a write, as its own answer says it, and what it told instead. */
export interface ToldWrite {
  readonly call: RelayedCall
  readonly done: RelayedAnswer
  readonly told: RelayedAnswer
}

/** A way to tell something else than what was done. `seen` gets each write of the request. */
export interface Lie {
  readonly name: string
  readonly respells?: true
  readonly spoil: (seen: ToldWrite[]) => Spoil
}

export const HONEST: Lie = {
  name: 'as it is',
  spoil: (seen) => async (call, forward) => {
    const done = await forward()
    if (call.method !== 'GET') seen.push({ call, done, told: done })
    return done
  },
}

/** All lies about a write that an honest run has shown. `random` chooses the places. */
export function liesAbout({ call, done }: ToldWrite, random: () => () => number): readonly Lie[] {
  const [asked, answer] = [parsed(call.body), parsed(done.body)]
  return [...mutationsOf(answer, random()).map((mutation) => spoiledBy(mutation, random)), ...partsOf(asked, answer, random())]
}

function mutationsOf(answer: unknown, random: () => number): readonly Mutation[] {
  return [...leafMutations(answer, random), ...listMutations(answer, random)]
}

/** The answer of each run has values of its own, so that its mutations are made anew. */
function spoiledBy({ name, respells }: Mutation, random: () => () => number): Lie {
  return {
    name: `answer ${name}`,
    ...(respells && { respells }),
    spoil: (seen) => async (call, forward) => {
      const done = await forward()
      if (call.method === 'GET' || seen.length > 0) return done
      const mutation = mutationsOf(parsed(done.body), random()).find((one) => one.name === name)
      const told = mutation ? mutation.apply(done) : done
      seen.push({ call, done, told })
      return told
    },
  }
}

/** Leaves one member of the body out of what is stored, and answers as if it were there. */
function partsOf(asked: unknown, answer: unknown, random: () => number): readonly Lie[] {
  const echoed = new Map(placesIn(answer, random).map(({ at, value }) => [at, JSON.stringify(value)]))
  const places = placesIn(asked, random).filter(({ at, value, isMember }) => isMember && echoed.get(at) === JSON.stringify(value))
  return places.map(({ at }) => ({
    name: `stored without ${at}`,
    spoil: (seen) => async (call, forward) => {
      if (call.method === 'GET' || seen.length > 0) return forward()
      const body = parsed(call.body)
      const done = await forward({ body: Buffer.from(JSON.stringify(withoutMember(body, at))), url: unmasked(call.url, at) })
      const told = done.status === 200 ? withBody(done, replaced(parsed(done.body), at, valueAt(body, at))) : done
      seen.push({ call, done, told })
      return told
    },
  }))
}

/** Takes a member out of the field mask, so that its old value stays. */
function unmasked(url: string, at: string): string {
  const [path = '', query = ''] = url.split('?')
  const given = new URLSearchParams(query)
  const mask = given.get('updateMask')
  if (mask === null || mask === '*') return url
  const name = at.slice(1).replaceAll('/', '.')
  const kept = mask.split(',').filter((one) => one !== name && one.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()) !== name)
  given.set('updateMask', kept.join())
  return `${path}?${given}`
}

function valueAt(body: unknown, at: string): unknown {
  let value = body
  for (const name of at.slice(1).split('/')) value = isRecord(value) ? value[name.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined
  return value
}

function parsed(body: Buffer | undefined): unknown {
  return body && body.length > 0 ? JSON.parse(body.toString()) : undefined
}
