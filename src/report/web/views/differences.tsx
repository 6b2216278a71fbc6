import type { Difference } from '../../difference.ts'
import type { OperationReport, Report } from '../../report.ts'
import { count, many, time } from '../format.ts'
import { hashOf } from '../route.ts'
import { Dotted } from '../tables/dotted.tsx'
import { ScrollTable } from '../tables/scroll-table.tsx'
import { StateChip } from '../verdict.tsx'
import { KINDS, placeOf } from '../words.ts'

export interface OperationProps {
  readonly operation: OperationReport
  readonly report: Report
}

/** The table of one operation's differences. */
export function Differences({ operation, report }: OperationProps) {
  const { differences, furtherDifferences } = operation
  return (
    <section aria-labelledby="differences">
      <h2 id="differences">Differences</h2>
      {differences.length === 0 && <p class="quiet">{operation.n > 0 ? 'Every answer was the same.' : 'Nothing was compared.'}</p>}
      {differences.length > 0 && (
        <ScrollTable label="Table of differences">
          <table class="differences cards">
            <thead>
              <tr>
                <th scope="col">State</th>
                <th scope="col">Where</th>
                <th scope="col">What</th>
                <th scope="col">When</th>
                <th scope="col" class="number">
                  Comparisons
                </th>
                <th scope="col" class="number">
                  Callers
                </th>
              </tr>
            </thead>
            <tbody>
              {differences.map((one) => (
                <DifferenceRow key={one.key} one={one} operation={operation} report={report} />
              ))}
            </tbody>
          </table>
        </ScrollTable>
      )}
      {furtherDifferences > 0 && <p class="quiet">{many(furtherDifferences, 'finding')} of further differences are not kept apart.</p>}
    </section>
  )
}

function DifferenceRow({ one, operation: { operation }, report }: OperationProps & { readonly one: Difference }) {
  return (
    <tr>
      <td>
        <StateChip of={one.state} />
        {one.isNew && <span class="chip is-new">New</span>}
      </td>
      <th scope="row">
        <a href={hashOf({ view: 'difference', operation, difference: one.key })}>
          <code>
            <Dotted name={placeOf(one)} />
          </code>
        </a>
      </th>
      <td>
        <strong>{one.kind}</strong> <span class="quiet below">{one.code ?? KINDS[one.kind]}</span>
      </td>
      <td>
        <Ticks one={one} report={report} />
        <span class="quiet below">last {time(one.lastAt).slice(0, 16)}</span>
      </td>
      <td class="number" data-label="Comparisons">
        {count(one.comparisons)}
      </td>
      <td class="number" data-label="Callers">
        {count(one.callers)}
      </td>
    </tr>
  )
}

const WIDTH = 160

const HEIGHT = 22

/** Draws when a difference occurred, as small bars over the whole span. */
function Ticks({ one, report }: { readonly one: Difference; readonly report: Report }) {
  const { from, to } = report.span ?? { from: 0, to: 1 }
  const most = Math.max(...one.steps.map(([, comparisons]) => comparisons))
  const x = (at: number) => Math.max(0, ((at - from) / Math.max(1, to - from)) * (WIDTH - 3))
  return (
    <svg
      class={`ticks is-${one.state}`}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={`from ${time(one.firstAt)} to ${time(one.lastAt)}`}
    >
      <line x1="0" x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} />
      {one.steps.map(([at, comparisons]) => {
        const height = Math.max(2, (comparisons / most) * (HEIGHT - 2))
        return <rect key={at} x={x(at)} y={HEIGHT - height} width="2.5" height={height} />
      })}
    </svg>
  )
}
