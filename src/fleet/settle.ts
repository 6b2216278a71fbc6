import type { StoreChange } from '../store/store-change.ts'
import { atMost, type FleetClocks, pause } from './fleet-clocks.ts'
import type { FleetReplica, UnreadReplica } from './heartbeat.ts'
import { type FleetReading, reading } from './part.ts'

/** Whether the store has what all replicas know. */
export interface Settled {
  /** What is missing, in sentences that name the replica. Empty if nothing is. */
  readonly problems: readonly string[]
}

/** Asks all replicas to hand over what they know. A question is a number; a heartbeat tells the newest that its replica has heard. */
export interface Questions {
  changes(): readonly StoreChange[]
  readonly reading: FleetReading
  /** What a heartbeat says, if the oldest work under way began `oldestMs` ago. */
  said(oldestMs: number | undefined): { readonly heard: number; readonly asked: number }
  settle(withinMs: number): Promise<Settled>
  hear(withinMs: number): Promise<boolean>
}

interface QuestionsParts {
  readonly turn: (isUrgent: boolean) => Promise<boolean>
  /** Is called when somebody asks, here or elsewhere. */
  readonly asked: () => void
  readonly readReplicas: () => Promise<readonly FleetReplica[]>
  /** Those that were read, and could not be understood. */
  readonly unread: () => readonly UnreadReplica[]
  readonly clocks: Pick<FleetClocks, 'repeat' | 'ticks'>
}

const NAME = 'questions'

/** Milliseconds of silence after which what a replica did matters to no comparison of the present. */
const GONE_MS = 60_000

/** Milliseconds between two looks at the heartbeats. */
const LOOK_MS = 5

export function createQuestions({ turn, asked: onAsked, readReplicas, unread, clocks }: QuestionsParts): Questions {
  let heard = 0
  let asked = 0
  /** Questions that older work still has to answer. */
  let open: readonly { readonly question: number; readonly at: number }[] = []
  let isAsking = false
  const ask = async (withinMs: number) => {
    isAsking = true
    return (await atMost(turn(true), false, withinMs, clocks)) ? heard : undefined
  }
  const wait = async (question: number, until: number, what: 'asked' | 'heard'): Promise<readonly FleetReplica[]> => {
    for (;;) {
      const replicas = await readReplicas()
      if (replicas.every((one) => !one.isLive || one[what] >= question) || clocks.ticks() >= until) return replicas
      await pause(LOOK_MS, clocks)
    }
  }
  return {
    changes() {
      if (!isAsking) return []
      isAsking = false
      return [{ kind: 'add', name: NAME, sums: { asked: 1 } }]
    },
    reading: reading('sums', NAME, ({ asked: newest = 0 }) => {
      if (newest === heard) return
      heard = newest
      open = [...open, { question: newest, at: clocks.ticks() }]
      onAsked()
      // What is known by now goes into the next batch, and its heartbeat says so.
      void turn(false)
    }),
    said(oldestMs) {
      const began = oldestMs === undefined ? Number.POSITIVE_INFINITY : clocks.ticks() - oldestMs
      asked = open.findLast(({ at }) => at < began)?.question ?? asked
      open = open.filter(({ at }) => at >= began)
      return { heard, asked }
    },
    async settle(withinMs) {
      const until = clocks.ticks() + withinMs
      const question = await ask(withinMs)
      const replicas = question === undefined ? undefined : await wait(question, until, 'asked').catch(() => undefined)
      if (question === undefined || replicas === undefined) return { problems: [NO_STORE] }
      return { problems: [...replicas.flatMap((one) => problemsOf(one, question)), ...unread().map(problemOfUnread)] }
    },
    async hear(withinMs) {
      const until = clocks.ticks() + withinMs
      const question = await ask(withinMs)
      if (question === undefined) return false
      const replicas = await wait(question, until, 'heard').catch(() => [])
      const isGone = ({ seenMs }: UnreadReplica) => seenMs > GONE_MS
      const isTold = replicas.length > 0 && replicas.every((one) => one.heard >= question || isGone(one)) && unread().every(isGone)
      return isTold && atMost(turn(false), false, Math.max(0, until - clocks.ticks()), clocks)
    },
  }
}

const NO_STORE = 'The store does not answer, so nobody knows what the other replicas have seen.'

function problemOfUnread({ id }: UnreadReplica): string {
  return `Replica ${id} runs another version of Crosswalk, whose heartbeat this one cannot read, so nobody knows what it has not handed over.`
}

function problemsOf({ id, heard, asked, seenMs, waiting, lost }: FleetReplica, question: number): readonly string[] {
  const silent = `Replica ${id} has not handed over what it knows; it was heard of ${(seenMs / 1000).toFixed(1)} s ago.`
  const busy = `Replica ${id} still compares answers that it gave before the question.`
  return [
    ...(asked >= question ? [] : [heard >= question ? busy : silent]),
    ...(waiting > 0 ? [`Replica ${id} has not handed over ${waiting} observations yet.`] : []),
    ...(lost > 0 ? [`Replica ${id} had no room for ${lost} bad observations while the store did not answer; begin a new epoch.`] : []),
  ]
}
