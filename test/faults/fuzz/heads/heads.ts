import type { Case, Prey } from '../prey.ts'
import type { Script } from '../upstream/script.ts'
import { type Given, type OpenAskers, overGrpc, type Question } from './askers.ts'
import { type CallCase, drawCall, scriptOfCall, showCall } from './calls.ts'
import { drawHead, type HeadCase, scriptOf } from './draw.ts'
import type { Way } from './ways.ts'

interface Asking<C> {
  readonly open: OpenAskers
  readonly scriptOf: (one: C, key: string) => Script
  readonly question: (one: C, key: string) => Question
  readonly wrongWith: (given: Given) => string | undefined
}

/** Creates clients whose requests the upstream answers as a case says. */
function players<C extends Case>({ open, scriptOf, question, wrongWith }: Asking<C>): Prey<C>['players'] {
  return ({ url, upstream }, count) =>
    open(url(), count).map(({ ask, close }) => ({
      async play(one) {
        const key = upstream.newKey()
        upstream.play(key, scriptOf(one, key))
        const given = await ask(question(one, key))
        upstream.forget(key)
        const foreign = upstream.foreignIn(given.text, [key])
        return foreign === undefined ? wrongWith(given) : `foreign: an answer to ${foreign}: ${given.text.slice(0, 500)}`
      },
      close,
    }))
}

/** Heads of the upstream over HTTP/1.1 on one way. */
export function headsBy({ name, path, asked, isAnyMethod, switches, open, wrongWith }: Way): Prey<HeadCase> {
  const question = ({ method }: HeadCase, key: string): Question => ({ method, path, key, body: method === 'POST' ? '{}' : '' })
  return {
    name: `heads, ${name}`,
    draw: (dice) => drawHead(dice, { target: asked, isAnyMethod, switches }),
    show: (one) => JSON.stringify(one),
    players: players({ open, scriptOf, question, wrongWith }),
  }
}

/** Heads and trailers of the upstream over HTTP/2. */
export const callHeads: Prey<CallCase> = {
  name: 'heads, gRPC',
  draw: drawCall,
  show: showCall,
  players: players({
    open: overGrpc,
    scriptOf: scriptOfCall,
    question: (_, key) => ({ method: 'POST', path: '/test.Echo/Unary', key, body: '' }),
    // An invalid gRPC status is passed on: every client can handle it.
    wrongWith: () => undefined,
  }),
}
