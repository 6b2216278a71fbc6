import type { Config } from '../../../src/app/config/settings.ts'
import { connect2, fetch2 } from '../../listen/fetch2.ts'
import { bearer } from '../../stage/proxy.ts'
import type { Fault } from '../fault.ts'
import { errorIn } from '../say.ts'
import { inWorld, serving } from '../world.ts'

/** A request without a token that once blocked all others. Most did so by work that grew with the square of the length, for minutes. */
interface Growing {
  readonly name: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly settings?: Partial<Config>
  /** v2's answer in place of rows. */
  readonly answer?: string
  /** The answer to its sender. */
  readonly says: string
}

const REPOS = '/registry/v1/repos'
const CREATE = `${REPOS}/${'a'.repeat(40)}`
const JSON_BODY = { 'content-type': 'application/json' }
const FORM = { 'content-type': 'application/x-www-form-urlencoded', 'x-http-method-override': 'GET' }

/** Texts like array indices that end in the same bits. V8 once used those as their hash, so all of them went into few buckets. */
const indices = (count: number) => Array.from({ length: count }, (_, at) => String(((at * 2 ** 18) % 2 ** 32) + Math.floor(at / 2 ** 14)))
const environment = (count: number) => ({ environment: Object.fromEntries(indices(count).map((index) => [index, index])) })
const ROW = { uid: 'x', aliases: indices(40_000), customOverlay: environment(40_000) }

const GROWING: readonly Growing[] = [
  {
    name: 'a body with tens of thousands of wrong members',
    path: CREATE,
    headers: JSON_BODY,
    body: JSON.stringify({ name: 'x', bundles: Array(20_000).fill(1) }),
    says: '400/3',
  },
  {
    name: 'a wrong member whose name is tens of thousands of indices',
    path: CREATE,
    headers: JSON_BODY,
    body: JSON.stringify({ name: 'x', custom_overlay: { environment: { [`a${']['.repeat(40_000)}`]: 1 } } }),
    says: '400/3',
  },
  {
    name: 'a form with tens of thousands of equal filters',
    path: REPOS,
    headers: FORM,
    body: Array(60_000).fill('uidp.ids=false').join('&'),
    says: '400/3',
  },
  {
    name: 'a body with millions of empty values',
    path: `/iam/v1/rolebindings/batch/${'a'.repeat(40)}`,
    headers: JSON_BODY,
    body: `[${Array(4_000_000).fill('{}').join()}]`,
    settings: { 'upstream.v1': undefined, 'limits.requestBytes': 2 ** 24 },
    says: '400/3',
  },
  {
    name: 'a recorded write with tens of thousands of beginnings of a token',
    path: CREATE,
    headers: { ...JSON_BODY, ...bearer('somebody') },
    body: JSON.stringify({ name: 'x', description: 'eyJ-'.repeat(60_000) }),
    settings: { modes: { default: 'diff-v1', rules: [], testers: [] }, 'records.values': 'shown' },
    says: '200',
  },
  {
    name: '100,000 members and texts like array indices whose hashes collide',
    path: CREATE,
    headers: JSON_BODY,
    body: JSON.stringify({ name: 'x', aliases: indices(100_000), custom_overlay: environment(50_000) }),
    says: '400/3',
  },
  {
    name: 'as many of them as a body may hold',
    path: CREATE,
    headers: JSON_BODY,
    body: JSON.stringify({ name: 'x', aliases: indices(4900), custom_overlay: environment(4900) }),
    says: '200',
  },
  {
    name: 'as many of them as a form may hold',
    path: REPOS,
    headers: FORM,
    body: indices(9900)
      .map((index) => `${index}=${index}`)
      .join('&'),
    says: '200',
  },
  {
    name: 'tens of thousands of them in an answer of v2',
    path: CREATE,
    headers: JSON_BODY,
    body: JSON.stringify({ name: 'x' }),
    answer: JSON.stringify({ ...ROW, repos: [ROW] }),
    says: '200',
  },
]

/** Milliseconds that a busy machine may need; the square of the length would take a hundred times as long. */
const SOON = 5_000

const attack = ({ name, path, headers, body, settings = { 'upstream.v1': undefined }, answer, says }: Growing): Fault => ({
  name,
  expected: `HTTP/1.1: ${says} soon, then somebody else 200 soon; HTTP/2: ${says} soon, then somebody else 200 soon`,
  see: () =>
    inWorld(answer === undefined ? serving(3) : (_, response) => response.end(answer), settings, async ({ proxy }) => {
      const session = await connect2(proxy.url)
      const over1 = await timed(async () => {
        const answer = await fetch(proxy.url + path, { method: 'POST', headers, body })
        return saying(answer.status, await answer.text(), answer.headers.get('content-type') ?? '')
      })
      const after1 = await timed(async () => String((await fetch(proxy.url + REPOS)).status))
      const over2 = await timed(async () => {
        const answer = await fetch2(session, path, { ':method': 'POST', ...headers }, body)
        return saying(answer.status, answer.body, answer.headers['content-type'])
      })
      const after2 = await timed(async () => String((await fetch2(session, REPOS)).status))
      session.destroy()
      return `HTTP/1.1: ${over1}, then somebody else ${after1}; HTTP/2: ${over2}, then somebody else ${after2}`
    }),
})

function saying(status: number, body: string, type: string | undefined): string {
  return status < 400 ? String(status) : `${status}/${errorIn(body, type)}`
}

async function timed(ask: () => Promise<string>): Promise<string> {
  const began = performance.now()
  const said = await ask()
  const ms = performance.now() - began
  return `${said} ${ms < SOON ? 'soon' : `after ${Math.round(ms / 1000)} s`}`
}

export const growthAttacks: readonly Fault[] = GROWING.map(attack)
