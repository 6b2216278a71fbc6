import { percent } from '../../../diff/percent.ts'
import type { TrendPoint } from '../../report.ts'
import { shareAt } from './scale.ts'

const WIDTH = 96
const HEIGHT = 28

/** Plots the bound over time, with the target as a dashed line. */
export function Sparkline({ trend, target }: { readonly trend: readonly TrendPoint[]; readonly target: number }) {
  const [first, last] = [trend[0], trend.at(-1)]
  if (!first || !last || trend.length < 2) return <span class="quiet">–</span>
  const x = (at: number) => 2 + ((at - first.at) / Math.max(1, last.at - first.at)) * (WIDTH - 6)
  const y = (share: number) => 2 + (1 - shareAt(share)) * (HEIGHT - 4)
  const points = trend.map(({ at, bound }) => `${x(at).toFixed(1)},${y(bound).toFixed(1)}`).join(' ')
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={`bound from ${percent(first.bound)} to ${percent(last.bound)}`}
    >
      <line class="target" x1="0" x2={WIDTH} y1={y(target)} y2={y(target)} />
      <polyline class="line" points={points} />
      <circle class="end" cx={x(last.at)} cy={y(last.bound)} r="2.5" />
    </svg>
  )
}
