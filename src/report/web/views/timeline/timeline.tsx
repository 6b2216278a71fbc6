import type { Report } from '../../../report.ts'
import { Lanes } from '../../charts/lanes.tsx'
import { notesOf } from '../../charts/markers.tsx'
import { outcomeLanes } from '../../charts/outcome-lanes.ts'
import { NoteList } from './note-list.tsx'

/** Shows what was compared over time, and the changes meanwhile. */
export function TimelineView({ report }: { readonly report: Report }) {
  const notes = notesOf(report)
  return (
    <>
      <Lanes caption="Comparisons of all operations" lanes={outcomeLanes(report.timeline.steps)} report={report} notes={notes} />
      <section aria-labelledby="notes">
        <h2 id="notes">
          What happened <span class="quiet">newest first</span>
        </h2>
        {notes.length === 0 && <p class="quiet">No mode was changed and no circuit opened.</p>}
        <NoteList notes={notes.toReversed()} />
      </section>
    </>
  )
}
