import type { Report } from '../report.ts'

/** A note with the number that it has in the list of notes. */
export type Note = Report['timeline']['notes'][number] & { readonly number: number }

/** The notes that concern an operation (all of them without one), numbered as the timeline numbers them. */
export function notesOf(report: Report, operation?: string): readonly Note[] {
  const numbered = report.timeline.notes.map((note, at) => ({ ...note, number: at + 1 }))
  return operation === undefined ? numbered : numbered.filter((note) => note.operation === undefined || note.operation === operation)
}

interface Props {
  readonly notes: readonly Note[]
  readonly x: (at: number) => number
  readonly top: number
  readonly bottom: number
}

/** Pixels below which numbers would overlap. */
const ROOM = 20

/** What happened, as numbered lines across a chart. */
export function Markers({ notes, x, top, bottom }: Props) {
  let free = Number.NEGATIVE_INFINITY
  return (
    <g>
      {notes.map(({ number, at, what, text }) => {
        const here = x(at)
        const labelled = here >= free
        if (labelled) free = here + ROOM
        return (
          <g key={number} class={`marker is-${what}`}>
            <title>{text}</title>
            <line x1={here} x2={here} y1={top} y2={bottom} />
            {labelled && <circle cx={here} cy={top - 10} r="9" />}
            {labelled && (
              <text x={here} y={top - 6} text-anchor="middle">
                {number}
              </text>
            )}
          </g>
        )
      })}
    </g>
  )
}
