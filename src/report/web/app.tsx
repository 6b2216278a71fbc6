import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Report } from '../report.ts'
import { Brand } from './brand.tsx'
import { DifferenceView } from './difference/difference.tsx'
import { many, time } from './format.ts'
import { Announcer, LiveMark, LostBanner, RestartBanner } from './live/connection.tsx'
import { type Live, useHeldFocus } from './live/use-live.ts'
import { Crumbs, Navigation } from './navigation.tsx'
import { FleetBanner } from './now/fleet-banner.tsx'
import { HandsContext } from './now/hands.ts'
import { Strip } from './now/strip.tsx'
import { parseRoute, type Route } from './route.ts'
import { Dotted } from './tables/dotted.tsx'
import { Clients } from './views/clients/clients.tsx'
import { Declared } from './views/declared.tsx'
import { OperationView } from './views/operation.tsx'
import { Operations } from './views/operations.tsx'
import { TimelineView } from './views/timeline/timeline.tsx'
import { placeOf } from './words.ts'

interface Props {
  readonly report: Report
  /** The link to a running proxy. A file has none. */
  readonly live: Live | undefined
}

/** The page: header, navigation, and the view that the address names. */
export function App({ report, live }: Props) {
  const { hash, route } = useRoute()
  useHeldFocus()
  const { mayChange = false, askNow } = live ?? {}
  const title = titleOf(route, report)
  const heading = useRef<HTMLHeadingElement>(null)
  const arrived = useRef(false)
  useEffect(() => {
    document.title = `${title} – Crosswalk report`
  }, [title])
  useEffect(() => {
    if (arrived.current) {
      heading.current?.focus()
      window.scrollTo(0, 0)
    }
    arrived.current = true
  }, [hash])
  const hands = useMemo(() => (mayChange ? { changed: () => askNow?.() } : undefined), [mayChange, askNow])
  return (
    <HandsContext value={hands}>
      <button type="button" class="skip" onClick={() => heading.current?.focus()}>
        Skip to the content
      </button>
      <header>
        <div class="top">
          <Brand />
          <Navigation route={route} report={report} />
          {live ? <LiveMark live={live} /> : <p class="live-mark">File of {time(report.generatedAt).slice(0, 16)}</p>}
        </div>
        {report.now && <Strip now={report.now} fleet={report.fleet} />}
      </header>
      {live && <LostBanner live={live} />}
      {live && <RestartBanner report={report} />}
      <FleetBanner fleet={report.fleet} />
      <Announcer report={report} />
      <main id="main">
        <Crumbs route={route} />
        <h1 ref={heading} tabIndex={-1}>
          <Dotted name={title} />
        </h1>
        <View route={route} report={report} />
      </main>
      <footer>
        Made {time(report.generatedAt)} from {many(report.read.entries, 'record')}
        {report.read.skipped > 0 && ` (${many(report.read.skipped, 'line')} could not be read)`}. All times are UTC. Values were redacted
        when they were recorded.{report.fleet && ` ${WHOSE}`}
      </footer>
    </HandsContext>
  )
}

/** Which figures are the fleet's. */
const WHOSE =
  'Counts, verdicts and clients are those of all replicas. Times, latencies and examples are those of this replica since its records begin, and of the others as far as they share them.'

function View({ route, report }: { readonly route: Route; readonly report: Report }) {
  if (route.view !== 'operation' && route.view !== 'difference') {
    const Plain = PLAIN[route.view]
    return <Plain report={report} />
  }
  const operation = report.operations.find((one) => one.operation === route.operation)
  if (!operation) return <p>This report knows no such operation.</p>
  if (route.view === 'operation') return <OperationView operation={operation} report={report} />
  const difference = operation.differences.find((one) => one.key === route.difference)
  if (!difference) return <p>This report knows no such difference.</p>
  return <DifferenceView key={difference.key} difference={difference} operation={operation} report={report} />
}

const PLAIN = { operations: Operations, clients: Clients, timeline: TimelineView, declared: Declared }

function titleOf(route: Route, report: Report): string {
  if (route.view === 'operation') return route.operation
  if (route.view !== 'difference') return TITLES[route.view]
  const operation = report.operations.find((one) => one.operation === route.operation)
  const difference = operation?.differences.find(({ key }) => key === route.difference)
  return difference ? `${difference.kind}: ${placeOf(difference)}` : 'Difference'
}

const TITLES = { operations: 'Operations', clients: 'Clients', timeline: 'Timeline', declared: 'Declared differences' }

/** Follows the address, which may change by a link, by the back button or by hand. */
function useRoute(): { readonly hash: string; readonly route: Route } {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const follow = () => setHash(location.hash)
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  return { hash, route: parseRoute(hash) }
}
