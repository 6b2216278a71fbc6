import type { ComponentChildren } from 'preact'
import type { useCursor } from './cursor.ts'
import { useWidth } from './measure.ts'

interface Props {
  readonly caption: ComponentChildren
  /** Describes the whole chart in words. */
  readonly label: string
  readonly height: number
  readonly cursor: ReturnType<typeof useCursor>
  /** The position of each step in pixels, for the pointer. */
  readonly places: (width: number) => readonly number[]
  /** Describes the chosen step in words; undefined if none is chosen. */
  readonly chosen: string | undefined
  readonly name: string
  readonly children: (width: number) => ComponentChildren
}

const HINT = 'Point at the chart, or focus it and use the arrow keys, to read single steps.'

/** The frame of a chart: a figure with a caption. The pointer or the arrow keys choose a step, which is described in words. */
export function Chart({ caption, label, height, cursor, places, chosen, name, children }: Props) {
  const { ref, width } = useWidth<HTMLDivElement>(720)
  const onPointerMove = (event: PointerEvent) => {
    const left = (event.currentTarget as Element).getBoundingClientRect().left
    const distances = places(width).map((x) => Math.abs(x - (event.clientX - left)))
    cursor.set(distances.length > 0 ? distances.indexOf(Math.min(...distances)) : undefined)
  }
  return (
    <figure class="chart">
      <figcaption>{caption}</figcaption>
      <div
        ref={ref}
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, places(width).length - 1)}
        aria-valuenow={cursor.at ?? 0}
        aria-valuetext={chosen ?? HINT}
        onKeyDown={cursor.onKeyDown}
        onPointerMove={onPointerMove}
        onPointerLeave={() => cursor.set(undefined)}
      >
        <svg class={name} width={width} height={height} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
          {children(width)}
        </svg>
      </div>
      <p class="readout" aria-hidden="true">
        {chosen ?? HINT}
      </p>
    </figure>
  )
}
