import { percent, wrongOf } from '../../../migrate/evidence/evidence.ts'
import type { Before, OperationReport } from '../../report.ts'
import { SHARE_TICKS, shareAt } from './scale.ts'

const HEIGHT = 34
const MIDDLE = HEIGHT / 2
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
  const { n, bound, standing, before } = operation
  if (!isComparable(operation) || n === 0)
    return <span class="quiet">{isComparable(operation) ? 'not compared yet' : 'not comparable'}</span>
  const rate = wrongOf(operation) / n
  return (
    <svg class={`range is-${standing}`} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={sentence(rate, bound, target, before)}>
      <rect class="inside-zone" x="0" y="0" width={x(target)} height={HEIGHT} />
      {SHARE_TICKS.map((share) => (
        <line key={share} class="grid" x1={x(share)} x2={x(share)} y1="0" y2={HEIGHT} />
      ))}
      <line class="target" x1={x(target)} x2={x(target)} y1="0" y2={HEIGHT} />
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

function sentence(rate: number, bound: number, target: number, before: Before | undefined): string {
  const was = before ? `, was ${percent(before.bound)}` : ''
  return `wrong ${percent(rate)}, bound ${percent(bound)}${was}, target ${percent(target)}`
}

/** Pixels between the labels of the target and of a tick. The target goes first. */
const ROOM = 56

/** The axis of the rows. */
export function RangeAxis({ target }: { readonly target: number }) {
  return (
    <svg class="range axis" viewBox={`0 0 ${WIDTH} 16`} aria-hidden="true">
      {SHARE_TICKS.filter((share) => Math.abs(x(share) - x(target)) > ROOM).map((share) => (
        <text key={share} x={x(share)} y="12" text-anchor={share === 1 ? 'end' : 'middle'}>
          {percent(share)}
        </text>
      ))}
      <text class="target-label" x={Math.min(WIDTH - ROOM / 2, Math.max(ROOM / 2, x(target)))} y="12" text-anchor="middle">
        target {percent(target)}
      </text>
    </svg>
  )
}
