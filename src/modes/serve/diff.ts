import type { Mode } from '../choose/mode.ts'
import type { Observer } from '../observe/observer.ts'
import type { Backend } from './backend.ts'
import { tee } from './tee.ts'
import type { Witnesses } from './witnesses.ts'

/**
 * Serves from one side, and passes a copy of the answer to the observer once the client has it.
 * It never waits for the other side, and failures there never reach the client (design §7).
 * Requests of strangers are not compared, because they prove nothing.
 */
export function diff(serve: Backend, mode: Mode, observer: Observer, { accepted, ownWrites, recentWrites }: Witnesses): Backend {
  return async (request) => {
    const wrote = ownWrites.watch(request.caller)
    const others = recentWrites.watch()
    recentWrites.readBody(request)
    const began = performance.now()
    const served = await serve(request)
    const answer = tee(served.answer, observer.limit, (kept) => {
      if (!accepted.has(request.credential)) observer.skip(request.operation, 'stranger')
      else if (!kept) observer.skip(request.operation, 'gone')
      else observer.look({ request, mode, served, kept, began, ms: Math.round(performance.now() - began), wrote, others })
    })
    return { ...served, answer }
  }
}
