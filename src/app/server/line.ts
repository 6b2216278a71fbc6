import { z } from 'zod'
import type { KeptModes } from '../../fleet/modes.ts'
import type { RecordFile } from '../../migrate/records/record-file.ts'
import type { Config } from '../config/settings.ts'

/** What carries messages between a supervisor and one of its workers: `process` in a worker, the worker in the supervisor. */
export interface MessagePort {
  /** Returns false, or throws, if the other side is gone. */
  send(message: unknown): unknown
  on(event: 'message', listener: (message: unknown) => void): unknown
}

/** Questions and hints in both directions between two processes. */
export type Line = ReturnType<typeof createLine>

/** One message. A question and its answer have the same number; a hint has none. */
interface Message {
  readonly topic?: string
  readonly nth?: number
  readonly value?: unknown
  readonly problem?: string
}

const GONE = 'the other process is gone'

/**
 * Values must survive `structuredClone`. Messages of others on the port are ignored. `wrong` is told of a hint that its listener does not
 * take; without it, that is an exception of this process.
 */
export function createLine(port: MessagePort, wrong?: (topic: string, problem: string) => void) {
  const listeners = new Map<string, (value: unknown) => unknown>()
  const waiting = new Map<number, { readonly resolve: (value: unknown) => void; readonly reject: (problem: Error) => void }>()
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
      const { message: problem } = error as Error
      if (nth !== undefined) send({ nth, problem })
      else if (wrong) wrong(topic, problem)
      else throw error
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
    /** Resolves with what the listener of the other side returns. Rejects if it throws, and when the line ends. */
    ask(topic: string, value?: unknown): Promise<unknown> {
      if (isOver) return Promise.reject(new Error(GONE))
      return new Promise((resolve, reject) => {
        asked += 1
        waiting.set(asked, { resolve, reject })
        send({ topic, nth: asked, value })
      })
    },
    /** Passes something on that needs no answer. It is lost if the other side is gone. */
    tell: (topic: string, value?: unknown) => send({ topic, value }),
    /** Sets what answers a topic. */
    on: (topic: string, listener: (value: unknown) => unknown) => void listeners.set(topic, listener),
    /** The other side is gone: rejects the questions under way and all later ones. */
    end() {
      isOver = true
      for (const { reject } of waiting.values()) reject(new Error(GONE))
      waiting.clear()
    },
  }
}

/** What a worker asks for when it starts. The settings come from the supervisor, so that all workers have the same. */
export interface WorkerOrders {
  readonly place: number
  readonly config: Config
  /** The path of the configuration file, if there is one. */
  readonly file: string | undefined
  /** Absent without a record file. */
  readonly records: SentRecordsSettings | undefined
  /** What the supervisor knows, for a store that does not answer; undefined if it knows no modes. */
  readonly kept: KeptModes | undefined
}

/** Why a worker cannot start: what is left of an error between two processes. */
type StartFailure = Readonly<Record<string, unknown>> & { readonly message: string }

/** The topics between a worker and its supervisor, besides those of the store. */
export const TOPICS = {
  /** The worker asks for its orders. */
  orders: 'orders',
  /** It accepts connections at this address. */
  listens: 'listens',
  /** It cannot start, and ends. */
  failed: 'failed',
  /** A fault makes it leave. */
  leaves: 'leaves',
  /** It has left: its last metrics. */
  done: 'done',
  records: 'records',
  /** The supervisor has other values of live settings. */
  settings: 'settings',
  /** The supervisor lets it leave: whether another one takes its place. */
  leave: 'leave',
  /** The supervisor asks whether its event loop turns. */
  ping: 'ping',
  /** The supervisor asks for its metrics. */
  metrics: 'metrics',
} as const

/** A schema of a list would find each of 100,000 faults. */
function areTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}

/** Also NaN, which says that a value is not known. */
const anyNumber = z.custom<number>((value) => typeof value === 'number')

/** What a worker may send. A worker that is broken must not break its supervisor, and the others with it. */
export const SENT = {
  listens: z.string(),
  failed: z.looseObject({ message: z.string() }),
  records: z.object({ lines: z.custom<readonly string[]>(areTexts), waiting: z.int().min(0) }),
  metrics: z.array(z.looseObject({ name: z.string(), values: z.array(z.looseObject({ value: anyNumber, labels: z.looseObject({}) })) })),
} as const

/** The members of an error by which a start says what its user can mend (`failureLines`). */
const TOLD = ['name', 'code', 'port', 'address', 'syscall', 'path', 'isMisuse'] as const

export function failureOf(error: unknown): StartFailure {
  if (!(error instanceof Error)) return { message: String(error) }
  const members = error as unknown as Readonly<Record<string, unknown>>
  return { message: error.message, stack: error.stack, ...Object.fromEntries(TOLD.map((name) => [name, members[name]])) }
}

export function errorOf({ message, ...members }: StartFailure): Error {
  return Object.assign(new Error(message), members)
}

/** Some lines for the record file, and how many more wait for their turn. */
export type SentLines = z.infer<typeof SENT.records>

interface SentRecordsSettings {
  /** Maximum lines that are sent and not yet written. */
  readonly window: number
  /** Maximum lines that wait beyond those; further ones are dropped. */
  readonly waiting: number
}

/**
 * The record file as a worker has it: the supervisor writes it. Lines leave at the end of the turn that made them, so that a worker that
 * dies takes few along. A slow disk makes them wait here.
 */
export function createSentRecords(line: Pick<Line, 'ask'>, { window, waiting }: SentRecordsSettings): RecordFile {
  let held: string[] = []
  let isScheduled = false
  let underWay = 0
  let dropped = 0
  let problem: string | undefined
  let whenEmpty: (() => void)[] = []

  const send = async () => {
    isScheduled = false
    const lines = held.slice(0, window - underWay)
    if (lines.length === 0) return
    held = held.slice(lines.length)
    underWay += lines.length
    const sent: SentLines = { lines, waiting: held.length }
    try {
      problem = (await line.ask('records', sent)) as string | undefined
    } catch (error) {
      dropped += lines.length
      problem = (error as Error).message
    }
    underWay -= lines.length
    if (held.length > 0) void send()
    if (held.length + underWay > 0) return
    for (const resolve of whenEmpty) resolve()
    whenEmpty = []
  }
  return {
    add(text) {
      if (held.length >= waiting) dropped += 1
      else held.push(text)
      if (isScheduled) return
      isScheduled = true
      queueMicrotask(() => void send())
    },
    flush: async () => {
      if (held.length + underWay > 0) await new Promise<void>((resolve) => void whenEmpty.push(resolve))
    },
    dropped: () => dropped,
    problem: () => problem,
  }
}
