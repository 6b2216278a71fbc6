import type { Report } from '../../report.ts'
import { count, duration, time } from '../format.ts'
import { Bands } from './bands.tsx'
import { Chart } from './chart.tsx'
import { useCursor } from './cursor.ts'
import { Markers, type NumberedNote } from './markers.tsx'
import { timeScale } from './scale.ts'
import { TimeAxis } from './time-axis.tsx'

/** One row of bars with its own scale, so that one wrong answer among a million is visible. */
export interface Lane {
  readonly name: string
  /** Class of its bars. */
  readonly tone: string
  readonly counts: ReadonlyMap<number, number>
}

const LANE = 56
const EDGE = { left: 16, right: 16, top: 28, bottom: 26 }
const LABEL = 20

/** Maximum width of a bar in pixels: a short span has few steps. */
const WIDEST = 40

interface Props {
  readonly caption: string
  readonly lanes: readonly Lane[]
  readonly report: Report
  readonly notes: readonly NumberedNote[]
}

/** Plots counts over time, one lane for each kind. Notes are numbered lines across all lanes. */
export function Lanes({ caption, lanes, report, notes }: Props) {
  const { stepMs } = report.timeline
  const span = wholeSteps(report.span ?? { from: 0, to: 1 }, stepMs)
  const across = timeScale(span)
  const x = (width: number) => (at: number) => EDGE.left + across(at) * (width - EDGE.left - EDGE.right)
  const bar = (width: number) => Math.min(WIDEST, Math.max(1.5, (stepMs / (span.to - span.from)) * (width - EDGE.left - EDGE.right) - 1))
  const times = [...new Set(lanes.flatMap(({ counts }) => [...counts.keys()]))].sort((a, b) => a - b)
  const cursor = useCursor(times.length)
  const here = cursor.at === undefined ? undefined : times[cursor.at]
  const base = EDGE.top + lanes.length * LANE
  return (
    <Chart
      caption={
        <>
          {caption} <span class="quiet">one bar = {duration(stepMs)}; each lane has its own height, stated at its right</span>
        </>
      }
      label={`${caption}: ${lanes.map((lane) => `${lane.name} ${count(totalOf(lane))}`).join(', ')}`}
      height={base + EDGE.bottom}
      cursor={cursor}
      places={(width) => times.map((at) => x(width)(at + stepMs / 2))}
      chosen={here === undefined ? undefined : inWords(here, lanes)}
      name="lanes"
    >
      {(width) => (
        <>
          <Bands notes={notes} x={x(width)} left={EDGE.left} right={width - EDGE.right} top={EDGE.top} bottom={base} />
          <Markers notes={notes} x={x(width)} top={EDGE.top} bottom={base} />
          {lanes.map((lane, nth) => (
            <Bars key={lane.name} lane={lane} top={EDGE.top + nth * LANE} x={x(width)} bar={bar(width)} right={width - EDGE.right} />
          ))}
          <TimeAxis span={span} width={width} x={x(width)} y={base + EDGE.bottom - 8} />
          {here !== undefined && (
            <rect class="cursor" x={x(width)(here) - 0.5} y={EDGE.top} width={bar(width) + 1} height={base - EDGE.top} />
          )}
        </>
      )}
    </Chart>
  )
}

function wholeSteps({ from, to }: { readonly from: number; readonly to: number }, stepMs: number) {
  return { from: Math.floor(from / stepMs) * stepMs, to: (Math.floor(to / stepMs) + 1) * stepMs }
}

function inWords(at: number, lanes: readonly Lane[]): string {
  return `${time(at)} – ${lanes.map(({ name, counts }) => `${name.toLowerCase()} ${count(counts.get(at) ?? 0)}`).join(', ')}`
}

interface BarsProps {
  readonly lane: Lane
  readonly top: number
  readonly x: (at: number) => number
  readonly bar: number
  readonly right: number
}

function Bars({ lane, top, x, bar, right }: BarsProps) {
  const most = Math.max(1, ...lane.counts.values())
  const base = top + LANE - 2
  const heightOf = (value: number) => Math.max(2, (value / most) * (LANE - LABEL - 2))
  return (
    <g class={`lane is-${lane.tone}`}>
      <text x={EDGE.left} y={top + 14}>
        <tspan class="name">{lane.name}</tspan> {count(totalOf(lane))}
      </text>
      {lane.counts.size > 0 && (
        <text x={right} y={top + 14} text-anchor="end">
          highest {count(most)}
        </text>
      )}
      <line class="base" x1={EDGE.left} x2={right} y1={base} y2={base} />
      {[...lane.counts].map(([at, value]) => (
        <rect key={at} class="bar" x={x(at)} y={base - heightOf(value)} width={bar} height={heightOf(value)} />
      ))}
    </g>
  )
}

function totalOf({ counts }: Lane): number {
  return [...counts.values()].reduce((sum, value) => sum + value, 0)
}
