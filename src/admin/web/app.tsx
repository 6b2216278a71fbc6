import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { count, many } from '../../migrate/evidence/evidence.ts'
import type { Report } from '../report/report.ts'
import { DifferenceView } from './difference.tsx'
import { Brand, Dotted, hashOf, PLAIN_VIEWS, parseRoute, type Route } from './kit.tsx'
import {
  Announcer,
  createAsk,
  hasToken,
  keepToken,
  type Live,
  LiveMark,
  LostBanner,
  RestartBanner,
  useHeldFocus,
  useLive,
} from './live.tsx'
import { ChangedContext, FleetBanner, Strip } from './now.tsx'
import { Operations, OperationView } from './operations.tsx'
import { Clients, Declared, TimelineView } from './views.tsx'
import { placeOf, time } from './words.ts'

/** Guards the report of a proxy that asks for a token. It tries the token of the tab, then asks for another. */
function Gate({ address, onReport }: { readonly address: string; readonly onReport: (report: Report) => void }) {
  const [said, say] = useState('')
  const input = useRef<HTMLInputElement>(null)
  const ask = useCallback(async () => {
    try {
      const answer = await createAsk(address)(true)
      if (answer.kind === 'report') onReport(answer.report)
      else
        say(answer.kind === 'token' && answer.why !== undefined ? `The proxy says: ${answer.why}.` : 'The proxy does not know this token.')
    } catch (error) {
      say(`Not shown: ${(error as Error).message}`)
    }
  }, [address, onReport])
  useEffect(() => {
    document.title = 'Token – Crosswalk report'
    input.current?.focus()
    if (hasToken()) void ask()
  }, [ask])
  const submit = (event: Event) => {
    event.preventDefault()
    keepToken(input.current?.value.trim() ?? '')
    void ask()
  }
  return (
    <>
      <header>
        <div class="top">
          <Brand />
        </div>
      </header>
      <main id="main">
        <h1>This report requires a token</h1>
        <form class="gate" onSubmit={submit}>
          <p>
            The admin port of this proxy shows it to whoever has the token of <code>admin.readToken</code> or <code>admin.token</code>, or a
            token of the identity provider at <code>admin.oidc.issuer</code>. This tab keeps it until it is closed.
          </p>
          <label for="token">Token</label>
          <div>
            <input ref={input} id="token" type="password" autocomplete="off" spellcheck={false} required aria-describedby="said" />
            <button type="submit">Show the report</button>
          </div>
          <p id="said" role="status">
            {said}
          </p>
        </form>
      </main>
    </>
  )
}

/** The views beside those of one operation. */
const VIEWS = {
  operations: { name: 'Operations', title: 'Operations', View: Operations, list: ({ operations }: Report) => operations },
  clients: { name: 'Clients', title: 'Clients', View: Clients, list: ({ clients }: Report) => clients },
  timeline: { name: 'Timeline', title: 'Timeline', View: TimelineView, list: ({ timeline }: Report) => timeline.notes },
  declared: { name: 'Declared', title: 'Declared differences', View: Declared, list: ({ declarations }: Report) => declarations },
} as const

function Navigation({ route, report }: { readonly route: Route; readonly report: Report }) {
  const here = route.view === 'operation' ? 'operations' : route.view
  return (
    <nav aria-label="Report">
      <ul>
        {PLAIN_VIEWS.map((view) => (
          <li key={view}>
            <a href={hashOf({ view })} aria-current={here === view ? 'page' : undefined}>
              {VIEWS[view].name} <span class="badge">{count(VIEWS[view].list(report).length)}</span>
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}

function Crumbs({ route }: { readonly route: Route }) {
  if (route.view !== 'operation') return null
  const { view, operation, difference } = route
  return (
    <nav class="crumbs" aria-label="Back">
      <a href={hashOf({ view: 'operations' })}>Operations</a>
      {difference !== undefined && (
        <>
          <span aria-hidden="true"> › </span>
          <a href={hashOf({ view, operation })}>{operation}</a>
        </>
      )}
    </nav>
  )
}

/** The page: header, navigation, and the view that the address names. A file has no link to a running proxy. */
function App({ report, live }: { readonly report: Report; readonly live: Live | undefined }) {
  const hash = useHash()
  const route = parseRoute(hash)
  useHeldFocus()
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
  return (
    <ChangedContext value={live?.mayChange ? live.askNow : undefined}>
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
    </ChangedContext>
  )
}

/** Which figures are the fleet's. */
const WHOSE =
  'Counts, verdicts and clients are those of all replicas. Times, latencies and examples are those of this replica since its records begin, and of the others as far as they share them.'

function View({ route, report }: { readonly route: Route; readonly report: Report }) {
  if (route.view !== 'operation') {
    const Plain = VIEWS[route.view].View
    return <Plain report={report} />
  }
  const operation = report.operations.find((one) => one.operation === route.operation)
  if (!operation) return <p>This report knows no such operation.</p>
  if (route.difference === undefined) return <OperationView operation={operation} report={report} />
  const difference = operation.differences.find((one) => one.key === route.difference)
  if (!difference) return <p>This report knows no such difference.</p>
  return <DifferenceView key={difference.key} difference={difference} operation={operation} report={report} />
}

function titleOf(route: Route, report: Report): string {
  if (route.view !== 'operation') return VIEWS[route.view].title
  if (route.difference === undefined) return route.operation
  const operation = report.operations.find((one) => one.operation === route.operation)
  const difference = operation?.differences.find(({ key }) => key === route.difference)
  return difference ? `${difference.kind}: ${placeOf(difference)}` : 'Difference'
}

/** Follows the address, which may change by a link, by the back button or by hand. */
function useHash(): string {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const follow = () => setHash(location.hash)
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  return hash
}

/**
 * Shows the report, or asks for the token first: `first` is null if a running proxy gives the report only with a token. `address` is where
 * a running proxy returns the current report; a file has no such address.
 */
export function Page({ first, address }: { readonly first: Report | null; readonly address: string | undefined }) {
  const [report, setReport] = useState(first)
  const live = useLive(address, report, setReport)
  if (report) return <App report={report} live={live} />
  return address === undefined ? null : <Gate address={address} onReport={setReport} />
}
