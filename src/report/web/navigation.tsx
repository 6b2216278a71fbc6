import type { Report } from '../report.ts'
import { count } from './format.ts'
import { hashOf, type Route } from './route.ts'

export function Navigation({ route, report }: { readonly route: Route; readonly report: Report }) {
  const here = route.view === 'operation' || route.view === 'difference' ? 'operations' : route.view
  const items = [
    { view: 'operations', name: 'Operations', n: report.operations.length },
    { view: 'clients', name: 'Clients', n: report.clients.length },
    { view: 'timeline', name: 'Timeline', n: report.timeline.notes.length },
    { view: 'declared', name: 'Declared', n: report.declarations.length },
  ] as const
  return (
    <nav aria-label="Report">
      <ul>
        {items.map(({ view, name, n }) => (
          <li key={view}>
            <a href={hashOf({ view })} aria-current={here === view ? 'page' : undefined}>
              {name} <span class="badge">{count(n)}</span>
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}

export function Crumbs({ route }: { readonly route: Route }) {
  if (route.view !== 'operation' && route.view !== 'difference') return null
  const { operation } = route
  return (
    <nav class="crumbs" aria-label="Back">
      <a href={hashOf({ view: 'operations' })}>Operations</a>
      {route.view === 'difference' && (
        <>
          <span aria-hidden="true"> › </span>
          <a href={hashOf({ view: 'operation', operation })}>{operation}</a>
        </>
      )}
    </nav>
  )
}
