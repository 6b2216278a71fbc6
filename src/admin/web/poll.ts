import { many } from '../../migrate/evidence/evidence.ts'
import type { Report, ReportFleet, ReportReplica } from '../report/report.ts'

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

export interface Clock {
  now(): number
  /** Calls once after a time in milliseconds; the returned function cancels. */
  later(call: () => void, ms: number): () => void
}

export interface PollSettings {
  /** Gets the report. A person who asks gets what is true now, and not what was true a second ago. */
  readonly ask: (isPerson: boolean) => Promise<LiveAnswer>
  readonly clock: Clock
  readonly isVisible: () => boolean
  readonly onAnswer: (answer: LiveAnswer) => void
  readonly onLink: (link: LiveLink) => void
}

/** Asks again and again while the page is visible. */
export interface Poll {
  /** Asks now, for a person; after the request that is under way, if there is one. */
  askNow(): void
  /** The page became visible or hidden. */
  turned(): void
  stop(): void
}

/** Milliseconds between an answer and the next request. A proxy that takes long is asked less often. */
const PAUSE_MS = 5_000
const REST = 20

/** Milliseconds before the first request after a failure. They double up to the maximum. */
const RETRY_MS = 2_000
const MOST_RETRY_MS = 30_000

export function createPoll({ ask, clock, isVisible, onAnswer, onLink }: PollSettings, asOf: number): Poll {
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
    askNow: () => void askNow(true),
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

/** Returns what is wrong with a replica, in a few words each. Empty if nothing is. */
export function troublesOf({ silentSeconds, behind, unread, otherServices = [], dropped, lost }: ReportReplica): readonly string[] {
  return [
    ...(silentSeconds === undefined ? [] : ['silent']),
    ...(behind > 0 ? [`${many(behind, 'version')} of the modes behind`] : []),
    ...(unread === undefined ? [] : [`another version of Crosswalk, which cannot read version ${unread} of the modes`]),
    ...otherServices.map((service) => `another upstream.${service}`),
    ...(lost > 0 ? [`${many(lost, 'wrong observation')} lost`] : []),
    ...(dropped > 0 ? [`${many(dropped, 'clean observation')} dropped`] : []),
  ]
}

/** Returns the ids of the replicas that are not well. */
export function unwellIn({ replicas, unread }: Pick<ReportFleet, 'replicas' | 'unread'>): readonly string[] {
  return [...replicas.filter((one) => troublesOf(one).length > 0), ...unread].map(({ id }) => id)
}

/** True if nothing is wrong with a fleet but what ends by itself. */
export function isOnlyBusy(fleet: ReportFleet): boolean {
  return unwellIn(fleet).length === 0 && fleet.problems.every((problem) => fleet.busy.includes(problem))
}

/** Returns what is wrong with a fleet, in sentences. What a sentence of `problems` says of a replica is not said again. */
export function sentencesOf({ problems, replicas }: ReportFleet): readonly string[] {
  const more = replicas.flatMap((one) => {
    const isNamed = problems.some((problem) => problem.startsWith(`Replica ${one.id} `))
    const { silentSeconds: _, ...heard } = one
    const troubles = troublesOf(isNamed ? { ...heard, otherServices: [], lost: 0 } : one)
    return troubles.length === 0 ? [] : [`Replica ${one.id}: ${troubles.join(', ')}.`]
  })
  return [...problems, ...more]
}

/** Returns what a reader must hear of a newer report: circuits that opened or closed, a verdict that turned, a restart. */
export function changesSaid(before: Report, after: Report): readonly string[] {
  const [old, young] = [before.now?.circuits ?? {}, after.now?.circuits ?? {}]
  const opened = Object.keys(young).filter((operation) => !(operation in old))
  const closed = Object.keys(old).filter((operation) => !(operation in young))
  return [
    ...(hasRestarted(before, after) ? ['The proxy restarted.'] : []),
    ...opened.map((operation) => `The circuit of ${operation} opened.`),
    ...closed.map((operation) => `The circuit of ${operation} is closed again.`),
    ...fleetSaid(before, after),
    ...(before.ready === after.ready ? [] : [after.ready ? 'Ready to cut over.' : 'No longer ready to cut over.']),
  ]
}

function fleetSaid({ fleet: old }: Report, { fleet: young }: Report): readonly string[] {
  const [before, after] = [old, young].map((fleet) => (fleet ? unwellIn(fleet) : []))
  const isNew = (after ?? []).filter((id) => !before?.includes(id))
  return [
    ...isNew.map((id) => `Replica ${id} is not well.`),
    ...((after ?? []).length === 0 && (before ?? []).length > 0 ? ['All replicas are well again.'] : []),
  ]
}

/** True if another process made the newer report. What it did not read back is gone. */
export function hasRestarted(before: Report, after: Report): boolean {
  return before.now !== undefined && after.now !== undefined && before.now.startedAt !== after.now.startedAt
}
