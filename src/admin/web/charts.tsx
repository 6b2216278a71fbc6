import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ComparisonOutcome } from '../../migrate/compare/judge.ts'
import { count, percent } from '../../migrate/evidence/evidence.ts'
import type { OperationReport, Report, TimeStep, TrendPoint } from '../report/report.ts'
import { duration, tick, time } from './words.ts'

/** A place in a chart whose parts stand at times. */
interface TimedProps {
  readonly notes: readonly NumberedNote[]
  readonly x: (at: number) => number
  readonly top: number
  readonly bottom: number
}

const CHANGES: ReadonlySet<NumberedNote['what']> = new Set<NumberedNote['what']>(['modes', 'rollout'])

/** Shades the time between two changes of modes or shares, every other one, and names what was in force in it. */
function Bands({ notes, x, left, right, top, bottom }: TimedProps & { readonly left: number; readonly right: number }) {
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
          <title>{(nth === 0 ? changes[0]?.from : (changes[nth - 1]?.to ?? changes[nth - 1]?.text)) ?? 'before the first change'}</title>
        </rect>
      ))}
    </g>
  )
}

interface ChartProps {
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
function Chart({ caption, label, height, cursor, places, chosen, name, children }: ChartProps) {
  const ref = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(720)
  useEffect(() => {
    const element = ref.current
    if (!element) return
    const observer = new ResizeObserver(([entry]) => entry && entry.contentRect.width > 0 && setWidth(entry.contentRect.width))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
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

/** The position of a reader in a chart: a step chosen with the pointer or with the arrow keys. */
function useCursor(length: number) {
  const [at, setAt] = useState<number | undefined>(undefined)
  const held = at === undefined ? undefined : Math.min(at, length - 1)
  return {
    at: held,
    set: setAt,
    onKeyDown(event: KeyboardEvent) {
      const next = MOVES[event.key]?.(held, length)
      if (event.key === 'Escape') setAt(undefined)
      if (next === undefined || length === 0) return
      event.preventDefault()
      setAt(Math.min(length - 1, Math.max(0, next)))
    },
  }
}

const MOVES: Readonly<Record<string, (at: number | undefined, length: number) => number>> = {
  ArrowLeft: (at, length) => (at ?? length) - 1,
  ArrowRight: (at) => (at ?? -1) + 1,
  PageUp: (at, length) => (at ?? length) - 10,
  PageDown: (at) => (at ?? -1) + 10,
  Home: () => 0,
  End: (_, length) => length - 1,
}

/** A note with its number in the list of notes. */
export type NumberedNote = Report['timeline']['notes'][number] & { readonly number: number }

/** Returns the notes about an operation (all notes without one), numbered as in the timeline. */
export function notesOf(report: Report, operation?: string): readonly NumberedNote[] {
  const numbered = report.timeline.notes.map((note, at) => ({ ...note, number: at + 1 }))
  return operation === undefined ? numbered : numbered.filter((note) => note.operation === undefined || note.operation === operation)
}

/** Draws notes as numbered lines across a chart. Lines that are too close share a label. */
function Markers({ notes, x, top, bottom }: TimedProps) {
  return (
    <g>
      {notes.map(({ number, at, text }) => (
        <line key={number} class="marker-line" x1={x(at)} x2={x(at)} y1={top} y2={bottom}>
          <title>{text}</title>
        </line>
      ))}
      {groupsOf(notes, x).map(({ at, label, width, isAlarm }) => (
        <g key={label} class={`marker ${isAlarm ? 'is-circuit' : ''}`}>
          <rect class="marker-label" x={at - width / 2} y={top - 20} width={width} height="18" rx="9" />
          <text x={at} y={top - 7} text-anchor="middle">
            {label}
          </text>
        </g>
      ))}
    </g>
  )
}

/** Minimum distance of two labels in pixels. */
const ROOM = 36

/** Returns the label of each group of notes: its middle, its text and its width, and whether one of them says that a circuit opened. */
function groupsOf(notes: readonly NumberedNote[], x: (at: number) => number) {
  const groups: NumberedNote[][] = []
  for (const note of notes) {
    const open = groups.at(-1)
    if (open?.[0] && x(note.at) - x(open[0].at) < ROOM) open.push(note)
    else groups.push([note])
  }
  return groups.map((group) => {
    const [first, last] = [group[0], group.at(-1)]
    const label = first === last ? String(first?.number) : `${first?.number}–${last?.number}`
    return {
      at: (x(first?.at ?? 0) + x(last?.at ?? 0)) / 2,
      label,
      width: Math.max(18, 8 * label.length + 6),
      isAlarm: group.some(({ what }) => what === 'circuit'),
    }
  })
}

/** The ends of the axis of shares. It is logarithmic: from 1 % to 0.1 % is as far as from 10 % to 1 %. */
const LEAST = 0.00003
const MOST = 1

/** Shares that get a label. */
const SHARE_TICKS = [0.0001, 0.001, 0.01, 0.1, 1] as const

/** Returns the position of a share on the axis, 0–1. */
function shareAt(share: number): number {
  const clamped = Math.min(MOST, Math.max(LEAST, share))
  return Math.log(clamped / LEAST) / Math.log(MOST / LEAST)
}

type Span = NonNullable<Report['span']>

/** Returns the position of a time on the axis of a span, 0–1. */
function timeScale(span: Span): (at: number) => number {
  const length = Math.max(1, span.to - span.from)
  return (at) => Math.min(1, Math.max(0, (at - span.from) / length))
}

/** Pixels for one label. */
const AXIS_ROOM = 150

/** Draws times along the bottom of a chart, the first and the last at its edges. */
function TimeAxis({ span, width, x, y }: { readonly span: Span; readonly width: number; readonly x: TimedProps['x']; readonly y: number }) {
  const parts = Math.max(1, Math.floor(width / AXIS_ROOM))
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

const HEIGHT = 230
const EDGE = { left: 58, right: 16, top: 28, bottom: 26 }
const BASE = HEIGHT - EDGE.bottom

/** Plots the bound and the share of wrong answers over time, against the target. */
export function BoundChart({
  operation,
  report,
  notes,
}: {
  readonly operation: OperationReport
  readonly report: Report
  readonly notes: readonly NumberedNote[]
}) {
  const { trend, bound } = operation
  const cursor = useCursor(trend.length)
  const span = report.span ?? { from: 0, to: 1 }
  const across = timeScale(span)
  const x = (width: number) => (at: number) => EDGE.left + across(at) * (width - EDGE.left - EDGE.right)
  // The bound of a step is known at its end.
  const end = (width: number, { at }: TrendPoint) => x(width)(at + report.timeline.stepMs)
  const point = cursor.at === undefined ? undefined : trend[cursor.at]
  const dot = point ?? trend.at(-1)
  const line = (width: number, points: readonly TrendPoint[], share: (one: TrendPoint) => number) =>
    points.map((one) => `${end(width, one).toFixed(1)},${y(share(one)).toFixed(1)}`).join(' ')
  const caption = (
    <>
      Share of wrong answers over time <span class="key line-bound">95 % bound</span> <span class="key line-rate">share seen</span>{' '}
      <span class="key line-target">target {percent(report.target)}</span>
    </>
  )
  return (
    <Chart
      caption={caption}
      label={`Share of wrong answers over time: bound ${percent(bound)} at the end, target ${percent(report.target)}`}
      height={HEIGHT}
      cursor={cursor}
      places={(width) => trend.map((one) => end(width, one))}
      chosen={
        point && `${time(point.at)} – bound ${percent(point.bound)}, wrong ${count(point.bad)} of ${count(point.n)} observations up to here`
      }
      name="bound-chart"
    >
      {(width) => (
        <>
          <Shares width={width} target={report.target} />
          <TimeAxis span={span} width={width} x={x(width)} y={HEIGHT - 8} />
          <Markers notes={notes} x={x(width)} top={EDGE.top} bottom={BASE} />
          {operation.bad > 0 && (
            <polyline
              class="line-rate"
              points={line(
                width,
                trend.filter(({ bad }) => bad > 0),
                ({ n, bad }) => (n > 0 ? bad / n : 0),
              )}
            />
          )}
          <polyline class="line-bound" points={line(width, trend, (one) => one.bound)} />
          {dot && <circle class="end" cx={end(width, dot)} cy={y(dot.bound)} r="4" />}
        </>
      )}
    </Chart>
  )
}

const y = (share: number) => EDGE.top + (1 - shareAt(share)) * (BASE - EDGE.top)

/** Draws the axis of shares, the target, and the zone in which an operation is inside. */
function Shares({ width, target }: { readonly width: number; readonly target: number }) {
  const right = width - EDGE.right
  return (
    <g>
      <rect class="inside-zone" x={EDGE.left} y={y(target)} width={right - EDGE.left} height={BASE - y(target)} />
      {SHARE_TICKS.map((share) => (
        <g key={share}>
          <line class="grid" x1={EDGE.left} x2={right} y1={y(share)} y2={y(share)} />
          <text x={EDGE.left - 8} y={y(share) + 4} text-anchor="end">
            {percent(share)}
          </text>
        </g>
      ))}
      <line class="target" x1={EDGE.left} x2={right} y1={y(target)} y2={y(target)} />
    </g>
  )
}

/** One row of bars with its own scale, so that one wrong answer among a million is visible. */
export interface Lane {
  readonly name: string
  /** Class of its bars. */
  readonly tone: string
  readonly counts: ReadonlyMap<number, number>
}

const LANE = 56
const LANE_EDGE = { left: 16, right: 16, top: 28, bottom: 26 }
const LABEL = 20

/** Maximum width of a bar in pixels: a short span has few steps. */
const WIDEST = 40

/** Plots counts over time, one lane for each kind. Notes are numbered lines across all lanes. */
export function Lanes({
  caption,
  lanes,
  report,
  notes,
}: {
  readonly caption: string
  readonly lanes: readonly Lane[]
  readonly report: Report
  readonly notes: readonly NumberedNote[]
}) {
  const { stepMs } = report.timeline
  const { from, to } = report.span ?? { from: 0, to: 1 }
  const span = { from: Math.floor(from / stepMs) * stepMs, to: (Math.floor(to / stepMs) + 1) * stepMs }
  const across = timeScale(span)
  const x = (width: number) => (at: number) => LANE_EDGE.left + across(at) * (width - LANE_EDGE.left - LANE_EDGE.right)
  const bar = (width: number) =>
    Math.min(WIDEST, Math.max(1.5, (stepMs / (span.to - span.from)) * (width - LANE_EDGE.left - LANE_EDGE.right) - 1))
  const times = [...new Set(lanes.flatMap(({ counts }) => [...counts.keys()]))].sort((a, b) => a - b)
  const cursor = useCursor(times.length)
  const here = cursor.at === undefined ? undefined : times[cursor.at]
  const base = LANE_EDGE.top + lanes.length * LANE
  return (
    <Chart
      caption={
        <>
          {caption} <span class="quiet">one bar = {duration(stepMs)}; each lane has its own height, stated at its right</span>
        </>
      }
      label={`${caption}: ${lanes.map((lane) => `${lane.name} ${count(totalOf(lane))}`).join(', ')}`}
      height={base + LANE_EDGE.bottom}
      cursor={cursor}
      places={(width) => times.map((at) => x(width)(at + stepMs / 2))}
      chosen={
        here === undefined
          ? undefined
          : `${time(here)} – ${lanes.map(({ name, counts }) => `${name.toLowerCase()} ${count(counts.get(here) ?? 0)}`).join(', ')}`
      }
      name="lanes"
    >
      {(width) => (
        <>
          <Bands notes={notes} x={x(width)} left={LANE_EDGE.left} right={width - LANE_EDGE.right} top={LANE_EDGE.top} bottom={base} />
          <Markers notes={notes} x={x(width)} top={LANE_EDGE.top} bottom={base} />
          {lanes.map((lane, nth) => (
            <Bars
              key={lane.name}
              lane={lane}
              top={LANE_EDGE.top + nth * LANE}
              x={x(width)}
              bar={bar(width)}
              right={width - LANE_EDGE.right}
            />
          ))}
          <TimeAxis span={span} width={width} x={x(width)} y={base + LANE_EDGE.bottom - 8} />
          {here !== undefined && (
            <rect class="cursor" x={x(width)(here) - 0.5} y={LANE_EDGE.top} width={bar(width) + 1} height={base - LANE_EDGE.top} />
          )}
        </>
      )}
    </Chart>
  )
}

function Bars({
  lane,
  top,
  x,
  bar,
  right,
}: Pick<TimedProps, 'top' | 'x'> & { readonly lane: Lane; readonly bar: number; readonly right: number }) {
  const most = Math.max(1, ...lane.counts.values())
  const base = top + LANE - 2
  const heightOf = (value: number) => Math.max(2, (value / most) * (LANE - LABEL - 2))
  return (
    <g class={`lane is-${lane.tone}`}>
      <text x={LANE_EDGE.left} y={top + 14}>
        <tspan class="name">{lane.name}</tspan> {count(totalOf(lane))}
      </text>
      {lane.counts.size > 0 && (
        <text x={right} y={top + 14} text-anchor="end">
          highest {count(most)}
        </text>
      )}
      <line class="base" x1={LANE_EDGE.left} x2={right} y1={base} y2={base} />
      {[...lane.counts].map(([at, value]) => (
        <rect key={at} class="bar" x={x(at)} y={base - heightOf(value)} width={bar} height={heightOf(value)} />
      ))}
    </g>
  )
}

function totalOf({ counts }: Lane): number {
  return [...counts.values()].reduce((sum, value) => sum + value, 0)
}

/** Groups outcomes by their weight (`WEIGHTS` of the evidence). */
const LANES: readonly { readonly name: string; readonly tone: string; readonly of: readonly ComparisonOutcome[] }[] = [
  { name: 'Equal', tone: 'match', of: ['match'] },
  { name: 'Declared or noise', tone: 'declared', of: ['expected', 'noise'] },
  { name: 'Wrong', tone: 'unexplained', of: ['mismatch', 'transient', 'error'] },
  { name: 'Not counted', tone: 'race', of: ['race', 'inconclusive'] },
]

export function outcomeLanes(steps: readonly TimeStep[]): readonly Lane[] {
  return LANES.map(({ name, tone, of }) => {
    const counted = steps.map(({ at, outcomes }) => [at, of.reduce((sum, one) => sum + (outcomes[one] ?? 0), 0)] as const)
    return { name, tone, counts: new Map(counted.filter(([, value]) => value > 0)) }
  })
}

const PLOT_HEIGHT = 34
const MIDDLE = PLOT_HEIGHT / 2
const WIDTH = 300
const x = (share: number) => Math.round((6 + shareAt(share) * (WIDTH - 12)) * 10) / 10

/** False if no evidence is possible. */
export function isComparable({ standing }: OperationReport): boolean {
  return standing !== 'v1-only' && standing !== 'unverifiable'
}

/**
 * Draws the range from an operation's share of wrong answers to its 95 % bound (the dot), on a logarithmic axis that all rows share.
 * The dashed line is the target. A hollow dot is the bound in the older report.
 */
export function RangePlot({ operation, target }: { readonly operation: OperationReport; readonly target: number }) {
  const { n, bad, bound, standing, before } = operation
  if (!isComparable(operation) || n === 0)
    return <span class="quiet">{isComparable(operation) ? 'not compared yet' : 'not comparable'}</span>
  const rate = bad / n
  return (
    <svg
      class={`range is-${standing}`}
      viewBox={`0 0 ${WIDTH} ${PLOT_HEIGHT}`}
      role="img"
      aria-label={`wrong ${percent(rate)}, bound ${percent(bound)}${before ? `, was ${percent(before.bound)}` : ''}, target ${percent(target)}`}
    >
      <rect class="inside-zone" x="0" y="0" width={x(target)} height={PLOT_HEIGHT} />
      {SHARE_TICKS.map((share) => (
        <line key={share} class="grid" x1={x(share)} x2={x(share)} y1="0" y2={PLOT_HEIGHT} />
      ))}
      <line class="target" x1={x(target)} x2={x(target)} y1="0" y2={PLOT_HEIGHT} />
      <line class="span" x1={x(rate)} x2={x(bound)} y1={MIDDLE} y2={MIDDLE} />
      {rate > 0 && <line class="rate" x1={x(rate)} x2={x(rate)} y1={MIDDLE - 5} y2={MIDDLE + 5} />}
      {before && <circle class="before" cx={x(before.bound)} cy={MIDDLE} r="4.5" />}
      <circle class="bound" cx={x(bound)} cy={MIDDLE} r="5" />
      <text class="value" x={x(bound) + (bound > 0.05 ? -10 : 10)} y={MIDDLE - 7} text-anchor={bound > 0.05 ? 'end' : 'start'}>
        {percent(bound)}
      </text>
    </svg>
  )
}

/** Pixels between the labels of the target and of a tick. The target goes first. */
const PLOT_ROOM = 56

/** The axis of the rows. */
export function RangeAxis({ target }: { readonly target: number }) {
  return (
    <svg class="range axis" viewBox={`0 0 ${WIDTH} 16`} aria-hidden="true">
      {SHARE_TICKS.filter((share) => Math.abs(x(share) - x(target)) > PLOT_ROOM).map((share) => (
        <text key={share} x={x(share)} y="12" text-anchor={share === 1 ? 'end' : 'middle'}>
          {percent(share)}
        </text>
      ))}
      <text class="target-label" x={Math.min(WIDTH - PLOT_ROOM / 2, Math.max(PLOT_ROOM / 2, x(target)))} y="12" text-anchor="middle">
        target {percent(target)}
      </text>
    </svg>
  )
}
