import type { WireReply } from '../../../wire/wire-call.ts'

/** The calls that wait for their answers. */
export interface UnderWay {
  /** Returns the answer, or what `instead` makes if the process stops before it. */
  wait(answer: Promise<WireReply>, instead: () => WireReply): Promise<WireReply>
  /** Answers all of them: a client of gRPC repeats a call, even a write, whose connection ends without an answer. */
  stop(): void
}

export function createUnderWay(): UnderWay {
  const waiting = new Set<() => void>()
  return {
    wait: (answer, instead) =>
      new Promise((resolve, reject) => {
        const stop = () => resolve(instead())
        waiting.add(stop)
        answer.then(
          (reply) => {
            waiting.delete(stop)
            resolve(reply)
          },
          (thrown) => {
            waiting.delete(stop)
            reject(thrown)
          },
        )
      }),
    stop() {
      for (const stop of waiting) stop()
    },
  }
}
