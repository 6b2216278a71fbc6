import type { Report } from '../report/report.ts'

/** `same`: the report has not changed. `token`: the proxy asks for a token, or refuses this one, perhaps for a reason. `at` is the time of the proxy. */
export type LiveAnswer =
  | { readonly kind: 'report'; readonly report: Report; readonly at: number; readonly mayChange: boolean }
  | { readonly kind: 'same'; readonly at: number }
  | { readonly kind: 'token'; readonly why?: string }

/** Whether the proxy answers. Times are milliseconds since 1970. */
export interface LiveLink {
  /** When the proxy last said that what is shown is current. */
  readonly asOf: number
  /** Absent if it answers. */
  readonly lost?: { readonly since: number; readonly why: string; readonly nextAt: number }
}

/** Milliseconds between an answer and the next request. A proxy that takes long is asked less often. */
const PAUSE_MS = 5_000
const REST = 20

/** Milliseconds before the first request after a failure. They double up to the maximum. */
const RETRY_MS = 2_000
const MOST_RETRY_MS = 30_000

interface PollSettings {
  /** Gets the report. A person who asks gets what is true now, and not what was true a second ago. */
  readonly ask: (isPerson: boolean) => Promise<LiveAnswer>
  readonly clock: {
    now(): number
    /** Calls once after a time in milliseconds; the returned function cancels. */
    later(call: () => void, ms: number): () => void
  }
  readonly isVisible: () => boolean
  readonly onAnswer: (answer: LiveAnswer) => void
  readonly onLink: (link: LiveLink) => void
}

export type Poll = ReturnType<typeof createPoll>

/** Asks again and again while the page is visible. */
export function createPoll({ ask, clock, isVisible, onAnswer, onLink }: PollSettings, asOf: number) {
  let link: LiveLink = { asOf }
  let failures = 0
  let isAsking = false
  let isAskedAgain = false
  let isStopped = false
  let dueAt = clock.now() + PAUSE_MS
  let cancel = () => {}
  const tell = (next: LiveLink) => {
    link = next
    onLink(next)
  }
  const failed = (error: Error) => {
    const nextAt = clock.now() + Math.min(MOST_RETRY_MS, RETRY_MS * 2 ** failures)
    failures += 1
    tell({ asOf: link.asOf, lost: { since: link.lost?.since ?? clock.now(), why: reasonOf(error), nextAt } })
    plan(nextAt - clock.now())
  }
  const askNow = async (isPerson: boolean): Promise<void> => {
    if (isStopped) return
    if (isAsking) {
      isAskedAgain ||= isPerson
      return
    }
    cancel()
    isAsking = true
    const begun = clock.now()
    const answer = await ask(isPerson).catch((error: Error) => error)
    isAsking = false
    if (isStopped) return
    if (isAskedAgain) {
      isAskedAgain = false
      return askNow(true)
    }
    if (answer instanceof Error) return failed(answer)
    failures = 0
    if (answer.kind !== 'token') tell({ asOf: answer.at })
    onAnswer(answer)
    plan(Math.max(PAUSE_MS, REST * (clock.now() - begun)))
  }
  const plan = (ms: number) => {
    cancel()
    dueAt = clock.now() + ms
    if (isVisible() && !isStopped) cancel = clock.later(() => void askNow(false), ms)
  }
  plan(PAUSE_MS)
  return {
    /** Asks now, for a person; after the request that is under way, if there is one. */
    askNow: () => void askNow(true),
    /** The page became visible or hidden. */
    turned() {
      cancel()
      if (isVisible() && !isAsking) plan(Math.max(0, dueAt - clock.now()))
    },
    stop() {
      isStopped = true
      cancel()
    },
  }
}

/** Browsers word a refused connection in many ways, and none helps. */
function reasonOf(error: Error): string {
  if (error.name === 'TimeoutError') return 'it does not answer in time'
  return error instanceof TypeError ? 'it cannot be reached' : error.message
}
