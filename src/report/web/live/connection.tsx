import { useEffect, useRef, useState } from 'preact/hooks'
import type { Report } from '../../report.ts'
import { duration, time } from '../format.ts'
import { changesSaid } from './changes-said.ts'
import type { Live } from './use-live.ts'

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
  const seconds = useCountdown(lost?.nextAt)
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

function useCountdown(until: number | undefined): number {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    if (until === undefined) return
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [until])
  return until === undefined ? 0 : Math.ceil((until - now) / 1_000)
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
