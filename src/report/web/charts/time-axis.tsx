import { tick } from '../format.ts'

interface Props {
  readonly span: { readonly from: number; readonly to: number }
  readonly width: number
  readonly x: (at: number) => number
  readonly y: number
}

/** Pixels for one label. */
const ROOM = 150

/** Draws times along the bottom of a chart, the first and the last at its edges. */
export function TimeAxis({ span, width, x, y }: Props) {
  const parts = Math.max(1, Math.floor(width / ROOM))
  const times = Array.from({ length: parts + 1 }, (_, nth) => span.from + ((span.to - span.from) * nth) / parts)
  const label = (at: number) => tick(at, span.to - span.from)
  return (
    <g>
      {times.map((at, nth) => (
        <text key={nth} x={x(at)} y={y} text-anchor={nth === 0 ? 'start' : nth === parts ? 'end' : 'middle'}>
          {nth > 0 && label(at) === label(times[nth - 1] ?? at) ? '' : label(at)}
        </text>
      ))}
    </g>
  )
}
