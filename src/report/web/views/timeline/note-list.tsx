import type { NumberedNote } from '../../charts/markers.tsx'
import { time } from '../../format.ts'
import { hashOf } from '../../route.ts'
import { Dotted } from '../../tables/dotted.tsx'
import { wordsOf } from './note-words.ts'

/** Events that are named under a chart. */
const MOST = 5

/** Lists events with the numbers that charts show. */
export function NoteList({ notes }: { readonly notes: readonly NumberedNote[] }) {
  return (
    <ol class="notes">
      {notes.map((note) => (
        <NoteRow key={note.number} note={note} />
      ))}
    </ol>
  )
}

/** Explains the numbers in the charts above: the last events, and where to find all. */
export function NoteLegend({ notes }: { readonly notes: readonly NumberedNote[] }) {
  if (notes.length === 0) return null
  return (
    <section class="legend" aria-label="The numbers in the charts">
      <NoteList notes={notes.slice(-MOST)} />
      {notes.length > MOST && (
        <p class="quiet">
          The last {MOST} of {notes.length} events; the <a href={hashOf({ view: 'timeline' })}>timeline</a> has all.
        </p>
      )}
    </section>
  )
}

function NoteRow({ note }: { readonly note: NumberedNote }) {
  const { number, at, what, operation } = note
  const { verb, text, change } = wordsOf(note)
  return (
    <li class={`is-${what}`}>
      <span class="number-mark" aria-hidden="true">
        {number}
      </span>
      <div>
        <span class="quiet">{time(at)}</span> <strong>{verb}</strong>{' '}
        {operation !== undefined && (
          <a href={hashOf({ view: 'operation', operation })}>
            <Dotted name={operation} />
          </a>
        )}{' '}
        {text}
        {change && (
          <span class="quiet below">
            from <q>{change.from}</q> to <q>{change.to}</q>
          </span>
        )}
      </div>
    </li>
  )
}
