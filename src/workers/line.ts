/** What carries messages between a supervisor and one of its workers: `process` in a worker, the worker in the supervisor. */
export interface MessagePort {
  /** Returns false, or throws, if the other side is gone. */
  send(message: unknown): unknown
  on(event: 'message', listener: (message: unknown) => void): unknown
}

/** Questions and hints in both directions between two processes. */
export interface Line {
  /** Resolves with what the listener of the other side returns. Rejects if it throws, and when the line ends. */
  ask(topic: string, value?: unknown): Promise<unknown>
  /** Passes something on that needs no answer. It is lost if the other side is gone. */
  tell(topic: string, value?: unknown): void
  /** Sets what answers a topic. */
  on(topic: string, listener: (value: unknown) => unknown): void
  /** The other side is gone: rejects the questions under way and all later ones. */
  end(): void
}

/** One message. A question and its answer have the same number; a hint has none. */
interface Message {
  readonly topic?: string
  readonly nth?: number
  readonly value?: unknown
  readonly problem?: string
}

interface Waiting {
  readonly resolve: (value: unknown) => void
  readonly reject: (problem: Error) => void
}

const GONE = 'the other process is gone'

/** Values must survive `structuredClone`. Messages of others on the port are ignored. */
export function createLine(port: MessagePort): Line {
  const listeners = new Map<string, (value: unknown) => unknown>()
  const waiting = new Map<number, Waiting>()
  let asked = 0
  let isOver = false
  const send = (message: Message) => {
    try {
      if (!isOver) port.send({ crosswalk: message })
    } catch {
      // The other process ended a moment ago. Its end is told by `end`.
    }
  }
  const answer = async ({ topic = '', nth, value }: Message) => {
    try {
      const answered = await listeners.get(topic)?.(value)
      if (nth !== undefined) send({ nth, value: answered })
    } catch (error) {
      if (nth === undefined) throw error
      send({ nth, problem: (error as Error).message })
    }
  }
  const settle = ({ nth = 0, value, problem }: Message) => {
    const question = waiting.get(nth)
    waiting.delete(nth)
    if (problem === undefined) question?.resolve(value)
    else question?.reject(new Error(problem))
  }
  port.on('message', (message) => {
    const { crosswalk } = (message ?? {}) as { crosswalk?: Message }
    if (!crosswalk) return
    if (crosswalk.topic === undefined) settle(crosswalk)
    else void answer(crosswalk)
  })
  return {
    ask(topic, value) {
      if (isOver) return Promise.reject(new Error(GONE))
      return new Promise((resolve, reject) => {
        asked += 1
        waiting.set(asked, { resolve, reject })
        send({ topic, nth: asked, value })
      })
    },
    tell: (topic, value) => send({ topic, value }),
    on: (topic, listener) => void listeners.set(topic, listener),
    end() {
      isOver = true
      for (const { reject } of waiting.values()) reject(new Error(GONE))
      waiting.clear()
    },
  }
}
