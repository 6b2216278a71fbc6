import type { Report } from '../../report.ts'

/** A note with its number in the list of notes. */
export type NumberedNote = Report['timeline']['notes'][number] & { readonly number: number }

/** Returns the notes about an operation (all notes without one), numbered as in the timeline. */
export function notesOf(report: Report, operation?: string): readonly NumberedNote[] {
  const numbered = report.timeline.notes.map((note, at) => ({ ...note, number: at + 1 }))
  return operation === undefined ? numbered : numbered.filter((note) => note.operation === undefined || note.operation === operation)
}

interface Props {
  readonly notes: readonly NumberedNote[]
  readonly x: (at: number) => number
  readonly top: number
  readonly bottom: number
}

/** Draws notes as numbered lines across a chart. Lines that are too close share a label. */
export function Markers({ notes, x, top, bottom }: Props) {
  return (
    <g>
      {notes.map(({ number, at, text }) => (
        <line key={number} class="marker-line" x1={x(at)} x2={x(at)} y1={top} y2={bottom}>
          <title>{text}</title>
        </line>
      ))}
      {groupsOf(notes, x).map(({ at, label, isAlarm }) => (
        <g key={label} class={`marker ${isAlarm ? 'is-circuit' : ''}`}>
          <rect class="marker-label" x={at - widthOf(label) / 2} y={top - 20} width={widthOf(label)} height="18" rx="9" />
          <text x={at} y={top - 7} text-anchor="middle">
            {label}
          </text>
        </g>
      ))}
    </g>
  )
}

interface Group {
  /** The middle of its label. */
  readonly at: number
  readonly label: string
  /** One of them says that a circuit opened. */
  readonly isAlarm: boolean
}

/** Minimum distance of two labels in pixels. */
const ROOM = 36

function groupsOf(notes: readonly NumberedNote[], x: (at: number) => number): readonly Group[] {
  const groups: NumberedNote[][] = []
  for (const note of notes) {
    const open = groups.at(-1)
    if (open?.[0] && x(note.at) - x(open[0].at) < ROOM) open.push(note)
    else groups.push([note])
  }
  return groups.map((group) => {
    const [first, last] = [group[0], group.at(-1)]
    return {
      at: (x(first?.at ?? 0) + x(last?.at ?? 0)) / 2,
      label: first === last ? String(first?.number) : `${first?.number}–${last?.number}`,
      isAlarm: group.some(({ what }) => what === 'circuit'),
    }
  })
}

function widthOf(label: string): number {
  return Math.max(18, 8 * label.length + 6)
}
