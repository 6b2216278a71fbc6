import type { ClientRequest } from '../../serve/request.ts'
import type { Mode, Served } from '../../serve/sides.ts'
import type { Observer } from '../observe/observer.ts'
import { tee } from './tee.ts'
import type { Witnesses } from './witnesses.ts'

/** Begins to watch a request. The returned function takes what was served, and returns it for the client. */
type Watch = (mode: Mode, request: ClientRequest) => (served: Served) => Served

/**
 * Passes a copy of the answer to the observer once the client has it.
 * It never waits for the other side, and failures there never reach the client (design §7).
 * Requests of strangers are not compared, because they prove nothing. Nothing is kept of an answer that finds no room.
 */
export function createWatch(observer: Observer, { accepted, ownWrites, recentWrites }: Witnesses): Watch {
  return (mode, request) => {
    const { operation, caller, credential } = request
    const wrote = ownWrites.watch(caller)
    const others = recentWrites.watch()
    recentWrites.readBody(request)
    const began = performance.now()
    return (served) => {
      const full = observer.full(operation, served.by)
      if (full) {
        observer.skip(operation, accepted.has(credential) ? full : 'stranger')
        return served
      }
      const answer = tee(served.answer, observer.limit, (kept) => {
        if (!accepted.has(credential)) observer.skip(operation, 'stranger')
        else if (!kept) observer.skip(operation, 'gone')
        else observer.look({ request, mode, served, kept, began, ms: Math.round(performance.now() - began), wrote, others })
      })
      return answer === served.answer ? served : { ...served, answer }
    }
  }
}
