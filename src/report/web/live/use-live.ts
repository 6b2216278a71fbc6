import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Report } from '../../report.ts'
import { createAsk, hasToken } from './ask-live.ts'
import { createPoll, type LiveLink, type Poll } from './poll.ts'

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
        clock: { now: Date.now, later },
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

function later(call: () => void, ms: number): () => void {
  const timer = setTimeout(call, ms)
  return () => clearTimeout(timer)
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
