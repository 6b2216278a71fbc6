import { connect2, fetch2 } from '../../listen/fetch2.ts'
import type { Fault } from '../fault.ts'
import { errorIn } from '../say.ts'
import { inWorld, serving } from '../world.ts'

/** A request of some hundred kilobytes whose work once grew with the square of its length: minutes in which nobody else was served. */
interface Growing {
  readonly name: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const REPOS = '/registry/v1/repos'
const CREATE = `${REPOS}/${'a'.repeat(40)}`
const JSON_BODY = { 'content-type': 'application/json' }
const FORM = { 'content-type': 'application/x-www-form-urlencoded', 'x-http-method-override': 'GET' }

const GROWING: readonly Growing[] = [
  {
    name: 'a body with tens of thousands of wrong members',
    path: CREATE,
    headers: JSON_BODY,
    body: JSON.stringify({ name: 'x', bundles: Array(20_000).fill(1) }),
  },
  {
    name: 'a wrong member whose name is tens of thousands of indices',
    path: CREATE,
    headers: JSON_BODY,
    body: JSON.stringify({ name: 'x', custom_overlay: { environment: { [`a${']['.repeat(40_000)}`]: 1 } } }),
  },
  {
    name: 'a form with tens of thousands of equal filters',
    path: REPOS,
    headers: FORM,
    body: Array(60_000).fill('uidp.ids=false').join('&'),
  },
]

/** Milliseconds that a busy machine may take for it; the square of the length would take a hundred times as many. */
const SOON = 5_000

const attack = ({ name, path, headers, body }: Growing): Fault => ({
  name,
  expected: 'HTTP/1.1: 400/3 soon; HTTP/2: 400/3 soon',
  see: () =>
    inWorld(serving(3), { 'upstream.v1': undefined }, async ({ proxy }) => {
      const session = await connect2(proxy.url)
      const over1 = await timed(async () => {
        const answer = await fetch(proxy.url + path, { method: 'POST', headers, body })
        return `${answer.status}/${errorIn(await answer.text(), answer.headers.get('content-type') ?? '')}`
      })
      const over2 = await timed(async () => {
        const answer = await fetch2(session, path, { ':method': 'POST', ...headers }, body)
        return `${answer.status}/${errorIn(answer.body, answer.headers['content-type'])}`
      })
      session.destroy()
      return `HTTP/1.1: ${over1}; HTTP/2: ${over2}`
    }),
})

async function timed(ask: () => Promise<string>): Promise<string> {
  const began = performance.now()
  const said = await ask()
  const ms = performance.now() - began
  return `${said} ${ms < SOON ? 'soon' : `after ${Math.round(ms / 1000)} s`}`
}

export const growthAttacks: readonly Fault[] = GROWING.map(attack)
