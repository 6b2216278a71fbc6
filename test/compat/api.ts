import type { Exchange } from './normalise.ts'
import { type Dialect, type Spelling, spell, spellingOf, spellName } from './spell.ts'
import { type Answer, type Request, type Role, type Side, send, type Target } from './target.ts'

export type Query = Readonly<Record<string, string | number | boolean | readonly string[]>>

/** The tools of a case: a v1 API as one role in one spelling. Cases write bodies and queries in v1's proto names. */
export interface Api {
  readonly dialect: Dialect
  readonly side: Side
  readonly organization: string
  readonly role: Role
  readonly as: (role: Role) => Api
  /** The same API; requests use the other spelling than its dialect's. */
  readonly otherwise: Api
  /** The same API; the transcript omits its exchanges, which differ between any two runs. */
  readonly unrecorded: Api
  /** The same API, for requests whose refusal has no promised wording. */
  readonly inAnyWords: Api
  readonly get: (path: string, query?: Query) => Promise<Answer>
  readonly post: (path: string, body?: unknown, query?: Query) => Promise<Answer>
  readonly put: (path: string, body?: unknown) => Promise<Answer>
  readonly patch: (path: string, body?: unknown) => Promise<Answer>
  readonly delete: (path: string) => Promise<Answer>
  /** Sends a request byte for byte, without any spelling. */
  readonly send: (request: Request) => Promise<Answer>
  /** Returns a name that belongs to this case and this run. */
  readonly name: (suffix?: string) => string
  /** Returns a member of an answer by its proto name. */
  // biome-ignore lint/suspicious/noExplicitAny: a decoded JSON answer, looked into by the cases
  readonly member: (body: any, name: string) => any
  /** Returns the expectation for this side, where the two differ. */
  readonly here: <T>(expected: Readonly<Record<Side, T>>) => T
  /** Adds work for after the case, last in, first out. Its requests are not recorded. */
  readonly later: (undo: (api: Api) => Promise<Answer>) => void
}

export interface Session {
  readonly api: Api
  readonly exchanges: readonly Exchange[]
  /** Every exchange of the case, including those that the transcript omits. */
  readonly all: readonly Exchange[]
  /** Undoes the changes of the case. */
  readonly close: () => Promise<void>
}

/** Creates the API of a target for one case. */
export function session(target: Target, slug: string): Session {
  const exchanges: Exchange[] = []
  const all: Exchange[] = []
  const undos: ((api: Api) => Promise<Answer>)[] = []
  const build = (role: Role, spelling: Spelling, recorded: boolean, anyWords = false): Api => {
    const exchange = async (request: Request) => {
      const answer = await send(target, role, request)
      const made = { role, request, answer, anyWords }
      all.push(made)
      if (recorded) exchanges.push(made)
      return answer
    }
    const json = (method: string, path: string, body: unknown, query: Query = {}) =>
      exchange({
        method,
        path: path + queryString(query, spelling),
        ...(body !== undefined && { headers: { 'content-type': 'application/json' }, text: JSON.stringify(spell(body, spelling)) }),
      })
    return {
      dialect: target.dialect,
      side: target.side,
      organization: target.organization,
      role,
      as: (other) => build(other, spelling, recorded, anyWords),
      get otherwise() {
        return build(role, spelling === 'snake' ? 'camel' : 'snake', recorded, anyWords)
      },
      get unrecorded() {
        return build(role, spelling, false)
      },
      get inAnyWords() {
        return build(role, spelling, recorded, true)
      },
      get: (path, query) => json('GET', path, undefined, query),
      post: (path, body, query) => json('POST', path, body, query),
      put: (path, body) => json('PUT', path, body),
      patch: (path, body) => json('PATCH', path, body),
      delete: (path) => json('DELETE', path, undefined),
      send: exchange,
      name: (suffix = '') => ['cw', target.run, slug, suffix].filter(Boolean).join('-'),
      member: (body, name) => body?.[spellName(name, spellingOf(target.dialect))],
      here: (expected) => expected[target.side],
      later: (undo) => undos.push(undo),
    }
  }
  const api = build('owner', spellingOf(target.dialect), true)
  const close = async () => {
    for (const undo of undos.reverse()) {
      const { status, body } = await undo(api.unrecorded)
      if (status !== 200 && status !== 404) throw new Error(`the case leaves something behind: ${status} ${JSON.stringify(body)}`)
    }
  }
  return { api, exchanges, all, close }
}

function queryString(query: Query, spelling: Spelling): string {
  const pairs = Object.entries(query).flatMap(([name, value]) => {
    const values = Array.isArray(value) ? value : [value]
    return values.map((one) => `${spellName(name, spelling)}=${encodeURIComponent(String(one))}`)
  })
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}
