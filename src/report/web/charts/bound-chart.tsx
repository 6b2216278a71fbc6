import { percent, wrongOf } from '../../../migrate/evidence/evidence.ts'
import type { OperationReport, Report, TrendPoint } from '../../report.ts'
import { count, time } from '../format.ts'
import { Chart } from './chart.tsx'
import { useCursor } from './cursor.ts'
import { Markers, type NumberedNote } from './markers.tsx'
import { SHARE_TICKS, shareAt, timeScale } from './scale.ts'
import { TimeAxis } from './time-axis.tsx'

const HEIGHT = 230
const EDGE = { left: 58, right: 16, top: 28, bottom: 26 }
const BASE = HEIGHT - EDGE.bottom

interface Props {
  readonly operation: OperationReport
  readonly report: Report
  readonly notes: readonly NumberedNote[]
}

/** Plots the bound and the share of wrong answers over time, against the target. */
export function BoundChart({ operation, report, notes }: Props) {
  const { trend, bound } = operation
  const cursor = useCursor(trend.length)
  const span = report.span ?? { from: 0, to: 1 }
  const across = timeScale(span)
  const x = (width: number) => (at: number) => EDGE.left + across(at) * (width - EDGE.left - EDGE.right)
  // The bound of a step is known at its end.
  const end = (width: number, { at }: TrendPoint) => x(width)(at + report.timeline.stepMs)
  const point = cursor.at === undefined ? undefined : trend[cursor.at]
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
          {wrongOf(operation) > 0 && (
            <polyline
              class="line-rate"
              points={line(
                trend.filter(({ bad }) => bad > 0),
                (one) => end(width, one),
                rateOf,
              )}
            />
          )}
          <polyline class="line-bound" points={line(trend, (one) => end(width, one), boundOf)} />
          <Dot at={point ?? trend.at(-1)} x={(one) => end(width, one)} />
        </>
      )}
    </Chart>
  )
}

const y = (share: number) => EDGE.top + (1 - shareAt(share)) * (BASE - EDGE.top)
const boundOf = ({ bound }: TrendPoint) => bound
const rateOf = ({ n, bad }: TrendPoint) => (n > 0 ? bad / n : 0)

function line(trend: readonly TrendPoint[], x: (one: TrendPoint) => number, share: (one: TrendPoint) => number): string {
  return trend.map((one) => `${x(one).toFixed(1)},${y(share(one)).toFixed(1)}`).join(' ')
}

function Dot({ at, x }: { readonly at: TrendPoint | undefined; readonly x: (one: TrendPoint) => number }) {
  return at ? <circle class="end" cx={x(at)} cy={y(at.bound)} r="4" /> : null
}

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
