import { useState } from 'preact/hooks'
import type { Standing } from '../../../migrate/evidence/cutover.ts'
import { OBSERVATION, percent, wrongOf } from '../../../migrate/evidence/evidence.ts'
import { timeNeeded } from '../../../migrate/evidence/standing.ts'
import type { OperationReport, Report } from '../../report.ts'
import { isComparable, RangeAxis, RangePlot } from '../charts/range-plot.tsx'
import { count, many } from '../format.ts'
import { Badges } from '../now/badges.tsx'
import { hashOf } from '../route.ts'
import { Dotted } from '../tables/dotted.tsx'
import { useHeldOrder } from '../tables/held-order.ts'
import { ScrollTable } from '../tables/scroll-table.tsx'
import { StandingChip } from '../verdict.tsx'
import { STANDING_ORDER, STANDINGS } from '../words.ts'

export function OperationTable({ report }: { readonly report: Report }) {
  const [text, setText] = useState('')
  const [only, setOnly] = useState<Standing | undefined>(undefined)
  const shown = useHeldOrder(report.operations).filter(
    (one) => one.operation.includes(text.trim()) && (only === undefined || one.standing === only),
  )
  return (
    <section aria-labelledby="operations">
      <div class="bar">
        <h2 id="operations">State of every operation</h2>
        <Filter report={report} only={only} onOnly={setOnly} text={text} onText={setText} />
      </div>
      <ScrollTable label="Table of operations">
        <table class="operations cards">
          <thead>
            <tr>
              <th scope="col">Verdict</th>
              <th scope="col">Operation</th>
              <th scope="col" class="plot" title="The line runs from the share of wrong answers that was seen to its 95 % bound, the dot.">
                Wrong answers, 95 % bound
                <RangeAxis target={report.target} />
              </th>
              <th scope="col" class="number" title={OBSERVATION}>
                Observations
              </th>
              <th scope="col" class="number">
                Wrong
              </th>
              <th scope="col" class="number">
                Clean observations to go
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map((one) => (
              <Row key={one.operation} one={one} report={report} />
            ))}
          </tbody>
        </table>
      </ScrollTable>
      <p class="quiet">{OBSERVATION}</p>
      <p role="status" class="quiet">
        {shown.length < report.operations.length && `${many(shown.length, 'operation')} of ${count(report.operations.length)} shown`}
      </p>
    </section>
  )
}

function Row({ one, report: { target, now } }: { readonly one: OperationReport; readonly report: Report }) {
  const wrong = wrongOf(one)
  return (
    <tr>
      <td>
        <StandingChip of={one.standing} />
      </td>
      <th scope="row">
        <a href={hashOf({ view: 'operation', operation: one.operation })}>
          <Dotted name={one.operation} />
        </a>
        <span class="quiet below">
          {many(Math.max(one.calls, one.comparisons), 'request')}
          {now ? <Badges operation={one.operation} now={now} /> : one.modes.length > 0 && ` · ${one.modes.join(', ')}`}
        </span>
      </th>
      <td class="plot">
        <RangePlot operation={one} target={target} />
        {one.n > 0 && isComparable(one) && <RangeAxis target={target} />}
      </td>
      <td class="number" data-label="Observations">
        {count(one.n)}
      </td>
      <td class={`number ${wrong > 0 ? 'wrong' : ''}`} data-label="Wrong">
        {count(wrong)}
        {one.share > 0 && <span class="quiet below">{percent(one.share)} of requests</span>}
      </td>
      <td class="number" data-label="To go">
        {one.needed === undefined ? '–' : one.needed === 0 ? 'done' : count(one.needed)}
        {one.needed !== undefined && one.needed > 0 && <span class="quiet below">{timeNeeded(one, target)}</span>}
      </td>
    </tr>
  )
}

interface FilterProps {
  readonly report: Report
  readonly only: Standing | undefined
  readonly onOnly: (standing: Standing | undefined) => void
  readonly text: string
  readonly onText: (text: string) => void
}

function Filter({ report, only, onOnly, text, onText }: FilterProps) {
  return (
    <search class="filter">
      <fieldset>
        <legend class="visually-hidden">Verdict</legend>
        {([undefined, ...STANDING_ORDER] as const).map((standing) => {
          const n = report.operations.filter((one) => standing === undefined || one.standing === standing).length
          return (
            <label key={standing ?? 'all'}>
              <input type="radio" name="standing" checked={only === standing} onChange={() => onOnly(standing)} />
              <span>
                {standing === undefined ? 'All' : STANDINGS[standing].word} {count(n)}
              </span>
            </label>
          )
        })}
      </fieldset>
      <input
        type="search"
        aria-label="Find an operation"
        placeholder="Find an operation"
        value={text}
        onInput={(event) => onText(event.currentTarget.value)}
      />
    </search>
  )
}
