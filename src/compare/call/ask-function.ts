import type { SideAnswer } from '../../migrate/observe/compare-read.ts'
import type { Clocks } from '../../serve/bounds.ts'
import type { Side } from '../../serve/sides.ts'
import type { Signal } from '../../serve/signals.ts'
import { type SeenResult, type ShownWith, seenGone, seenLate, seenReturn, seenThrow } from '../values/seen-result.ts'

export interface AskFunctionMeans extends Pick<Clocks, 'ticks' | 'repeat'> {
  /** Starts a side with a copy of the arguments. */
  readonly start: (side: Side, signal: AbortSignal) => unknown
  readonly shown: ShownWith
  /** Milliseconds in which a side must answer. */
  readonly deadlineMs: number
  readonly strays: Strays
}

/** Calls that go on although their comparison has ended. Nothing can end a function from outside. */
export interface Strays {
  isFull(): boolean
  add(call: Promise<unknown>): void
}

export function createStrays(most: number): Strays {
  let count = 0
  return {
    isFull: () => count >= most,
    add(call) {
      count += 1
      const leave = () => {
        count -= 1
      }
      call.then(leave, leave)
    },
  }
}

/** Calls one side besides. It never rejects: what the side throws is its answer, and a side that is late has failed. */
export function askFunction(side: Side, signal: Signal, { start, shown, deadlineMs, strays, ticks, repeat }: AskFunctionMeans) {
  const began = ticks()
  const own = new AbortController()
  return new Promise<SideAnswer>((resolve) => {
    const call = started(() => start(side, own.signal))
    let isOver = false
    const end = (result: () => SeenResult) => {
      if (isOver) return
      isOver = true
      stop()
      signal.removeEventListener('abort', give)
      const { seen, size } = result()
      resolve({ seen, ms: Math.round(ticks() - began), bytes: size })
    }
    const leave = (result: SeenResult, reason: unknown) => {
      if (isOver) return
      end(() => result)
      strays.add(call)
      own.abort(reason)
    }
    const give = () => leave(seenGone(), signal.reason)
    const stop = repeat(() => leave(seenLate(deadlineMs), new DOMException('this side did not answer in time', 'TimeoutError')), deadlineMs)
    if (signal.aborted) give()
    else signal.addEventListener('abort', give)
    call.then(
      (value) => end(() => seenReturn(value, shown)),
      (thrown) => end(() => seenThrow(thrown, shown)),
    )
  })
}

/** A function that throws at once is one that rejects. */
async function started(start: () => unknown): Promise<unknown> {
  return start()
}
