import type { Report } from '../../report.ts'
import { Lanes } from '../charts/lanes.tsx'
import { notesOf } from '../charts/markers.tsx'
import { outcomeLanes } from '../charts/outcome-lanes.ts'
import { time } from '../format.ts'
import { hashOf } from '../route.ts'

const WHAT: Readonly<Record<string, string>> = {
  modes: 'Modes',
  circuit: 'Circuit',
  'circuit-closed': 'Circuit closed',
  restart: 'Restart',
}

/** Shows what was compared over time, and the changes meanwhile. */
export function TimelineView({ report }: { readonly report: Report }) {
  const notes = notesOf(report)
  return (
    <>
      <Lanes caption="Comparisons of all operations" lanes={outcomeLanes(report.timeline.steps)} report={report} notes={notes} />
      <section aria-labelledby="notes">
        <h2 id="notes">What happened</h2>
        {notes.length === 0 && <p class="quiet">No mode was changed and no circuit opened.</p>}
        <ol class="notes">
          {notes.map(({ number, at, what, text, operation }) => (
            <li key={number} class={`is-${what}`}>
              <span class="number-mark" aria-hidden="true">
                {number}
              </span>
              <span class="quiet">{time(at)}</span> <strong>{WHAT[what] ?? what}</strong>{' '}
              {operation !== undefined && <a href={hashOf({ view: 'operation', operation })}>{operation}</a>} {text}
            </li>
          ))}
        </ol>
      </section>
    </>
  )
}
