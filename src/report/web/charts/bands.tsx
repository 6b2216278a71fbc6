import type { NumberedNote } from './markers.tsx'

interface Props {
  readonly notes: readonly NumberedNote[]
  readonly x: (at: number) => number
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

const CHANGES: ReadonlySet<NumberedNote['what']> = new Set<NumberedNote['what']>(['modes', 'rollout'])

/** Shades the time between two changes of modes or shares, every other one, and names what was in force in it. */
export function Bands({ notes, x, left, right, top, bottom }: Props) {
  const changes = notes.filter(({ what }) => CHANGES.has(what))
  const ends = [left, ...changes.map(({ at }) => x(at)), right]
  return (
    <g class="bands">
      {ends.slice(0, -1).map((from, nth) => (
        <rect
          key={nth}
          class={nth % 2 === 1 ? 'is-odd' : ''}
          x={from}
          y={top}
          width={Math.max(0, (ends[nth + 1] ?? from) - from)}
          height={bottom - top}
        >
          <title>{namesOf(changes, nth)}</title>
        </rect>
      ))}
    </g>
  )
}

function namesOf(changes: readonly NumberedNote[], nth: number): string {
  const name = nth === 0 ? changes[0]?.from : (changes[nth - 1]?.to ?? changes[nth - 1]?.text)
  return name ?? 'before the first change'
}
