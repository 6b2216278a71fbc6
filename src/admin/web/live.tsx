import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { AdminAddress } from '../report/commands.ts'
import type { Report } from '../report/report.ts'
import { createPoll, type LiveAnswer, type LiveLink, type Poll } from './poll.ts'
import { changesSaid, duration, time } from './words.ts'

/** Key in the tab's storage, which ends with the tab and is private to this origin. */
const KEPT = 'crosswalk.admin.token'

/** Keeps the token for further requests to the proxy. */
export function keepToken(token: string): void {
  sessionStorage.setItem(KEPT, token)
}

export function hasToken(): boolean {
  return sessionStorage.getItem(KEPT) !== null
}

/** Returns how this page reached the admin port. */
export function adminAddress(): AdminAddress {
  return { origin: location.origin, hasToken: hasToken() }
}

/** The headers of a request to the admin port. */
export function ownHeaders(): Record<string, string> {
  const token = sessionStorage.getItem(KEPT)
  return token === null ? {} : { authorization: `Bearer ${token}` }
}

/** What the token permits, as the proxy says. */
const RIGHT = 'x-crosswalk-right'

/** A proxy that takes longer does not answer. */
const LONGEST_MS = 20_000

/**
 * Returns a function that gets the current report of a running proxy, if it changed since the last call. It throws a sentence if it cannot.
 * A person gets a new report: one that is a second old may not show what the person has just changed.
 */
export function createAsk(live: string): (isPerson: boolean) => Promise<LiveAnswer> {
  let etag: string | undefined
  return async (isPerson) => {
    const headers = { ...ownHeaders(), ...(etag !== undefined && !isPerson && { 'if-none-match': etag }) }
    const answer = await fetch(live, { cache: 'no-store', headers, signal: AbortSignal.timeout(LONGEST_MS) })
    const at = Date.parse(answer.headers.get('date') ?? '') || Date.now()
    if (answer.status === 304) return { kind: 'same', at }
    if (answer.status === 401 || (answer.status === 403 && hasToken())) return { kind: 'token', ...(hasToken() && (await whyIn(answer))) }
    if (!answer.ok) throw new Error(`it answers with HTTP ${answer.status}`)
    const report = (await answer.json()) as Report
    etag = answer.headers.get('etag') ?? undefined
    return { kind: 'report', report, at, mayChange: hasToken() && answer.headers.get(RIGHT) === 'change' }
  }
}

/** What the proxy says of a token of an identity provider. Of any other token that it does not know, it says only which settings there are. */
async function whyIn(answer: Response): Promise<{ readonly why?: string }> {
  const { message = '' } = (await answer.json().catch(() => ({}))) as { readonly message?: string }
  return message.startsWith('the admin port asks') ? {} : { why: message }
}

/** The link to a running proxy, and a function that asks it at once. */
export interface Live {
  readonly link: LiveLink
  readonly askNow: () => void
  /** True if the token of the reader may change modes. False on a port without tokens: then nobody knows who the reader is. */
  readonly mayChange: boolean
}

/**
 * Keeps the report current while the page is visible. `onReport` receives a newer report, or null if the proxy asks for a token.
 * Returns undefined for a file, and while there is no report.
 */
export function useLive(live: string | undefined, shown: Report | null, onReport: (report: Report | null) => void): Live | undefined {
  const [link, setLink] = useState<LiveLink | undefined>(undefined)
  const [mayChange, setMayChange] = useState(false)
  const poll = useRef<Poll | undefined>(undefined)
  const isShown = shown !== null
  const madeAt = useRef(0)
  madeAt.current = shown?.generatedAt ?? 0
  useEffect(() => {
    if (live === undefined || !isShown) return
    setLink({ asOf: madeAt.current })
    const running = createPoll(
      {
        ask: createAsk(live),
        clock: {
          now: Date.now,
          later(call, ms) {
            const timer = setTimeout(call, ms)
            return () => clearTimeout(timer)
          },
        },
        isVisible: () => document.visibilityState === 'visible',
        onAnswer(answer) {
          if (answer.kind === 'report') setMayChange(answer.mayChange)
          if (answer.kind !== 'same') onReport(answer.kind === 'report' ? answer.report : null)
        },
        onLink: setLink,
      },
      madeAt.current,
    )
    poll.current = running
    if (hasToken()) running.askNow()
    document.addEventListener('visibilitychange', running.turned)
    return () => {
      document.removeEventListener('visibilitychange', running.turned)
      running.stop()
    }
  }, [live, isShown, onReport])
  return link && isShown ? { link, askNow: () => poll.current?.askNow(), mayChange } : undefined
}

/** Gives the focus back to an element that lost it because a newer report moved it. */
export function useHeldFocus(): void {
  const held = useRef<Element | null>(null)
  held.current = document.activeElement
  useLayoutEffect(() => {
    const element = held.current
    if (element instanceof HTMLElement && element.isConnected && document.activeElement === document.body) {
      element.focus({ preventScroll: true })
    }
  })
}

/** Says in the header that the page is live, and asks at once on request. */
export function LiveMark({ live: { link, askNow } }: { readonly live: Live }) {
  return (
    <p class={`live-mark ${link.lost ? 'is-lost' : ''}`}>
      <span class="dot" aria-hidden="true" />
      <span>
        {link.lost ? 'Not live' : 'Live'} <span class="quiet">{time(link.asOf).slice(11)}</span>
      </span>
      <button type="button" onClick={askNow}>
        Refresh
      </button>
    </p>
  )
}

/** Says that the proxy does not answer, how old the page is, and when it is asked again. It goes when the proxy answers. */
export function LostBanner({ live: { link, askNow } }: { readonly live: Live }) {
  const { lost, asOf } = link
  const until = lost?.nextAt
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    if (until === undefined) return
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [until])
  const seconds = until === undefined ? 0 : Math.ceil((until - now) / 1_000)
  return (
    <div role="status">
      {lost && (
        <div class="banner is-lost">
          <p>
            <strong>No answer since {time(lost.since).slice(11)} UTC</strong>: {lost.why}. What you see is from {time(asOf)} UTC.{' '}
            <span class="quiet" aria-hidden="true">
              {seconds > 0 ? `Next try in ${duration(seconds * 1_000)}.` : 'Asking…'}
            </span>
          </p>
          <button type="button" onClick={askNow}>
            Try now
          </button>
        </div>
      )}
    </div>
  )
}

/** Says that another process answers now, until the reader has seen it: what the page showed before may be gone. */
export function RestartBanner({ report }: { readonly report: Report }) {
  const startedAt = report.now?.startedAt
  const [seen, setSeen] = useState(startedAt)
  if (startedAt === undefined || startedAt === seen) return null
  return (
    <div class="banner">
      <p>
        <strong>The proxy restarted at {time(startedAt)} UTC.</strong> You see what it has read back from its records, and counted since.
      </p>
      <button type="button" onClick={() => setSeen(startedAt)}>
        Understood
      </button>
    </div>
  )
}

/** Tells screen readers what a newer report changed, if it matters. */
export function Announcer({ report }: { readonly report: Report }) {
  const before = useRef(report)
  const [said, say] = useState('')
  useEffect(() => {
    const changes = changesSaid(before.current, report)
    before.current = report
    if (changes.length > 0) say(changes.join(' '))
  }, [report])
  return (
    <p role="status" class="visually-hidden">
      {said}
    </p>
  )
}
