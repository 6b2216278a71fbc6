import { useState } from 'preact/hooks'
import type { Standing } from '../../../diff/evidence/cutover.ts'
import { percent } from '../../../diff/percent.ts'
import type { OperationReport, Report } from '../../report.ts'
import { Lanes } from '../charts/lanes.tsx'
import { notesOf } from '../charts/markers.tsx'
import { outcomeLanes } from '../charts/outcome-lanes.ts'
import { RangeAxis, RangePlot } from '../charts/range-plot.tsx'
import { Sparkline } from '../charts/sparkline.tsx'
import { count, duration, many, time } from '../format.ts'
import { hashOf } from '../route.ts'
import { Icon, StandingChip } from '../verdict.tsx'
import { placeOf, STANDINGS } from '../words.ts'
import { Empty } from './empty.tsx'

const ORDER: readonly Standing[] = ['outside', 'inconclusive', 'v1-only', 'inside']

interface Props {
  readonly report: Report
  /** Where a running proxy answers this report anew; a file has no such address. */
  readonly live: string | undefined
}

/** The state of every operation at a glance. */
export function Operations({ report, live }: Props) {
  if (report.operations.length === 0) return <Empty report={report} live={live} />
  return (
    <>
      <Verdict report={report} />
      <OperationTable report={report} />
      <Lanes caption="Comparisons of all operations" lanes={outcomeLanes(report.timeline.steps)} report={report} notes={notesOf(report)} />
      <Gone report={report} />
    </>
  )
}

function Verdict({ report }: { readonly report: Report }) {
  const { operations, ready, target, reasons, span, against } = report
  const of = (standing: Standing) => operations.filter((one) => one.standing === standing).length
  const sum = (pick: (one: OperationReport) => number) => operations.reduce((total, one) => total + pick(one), 0)
  const unexplained = sum(({ differences }) => differences.filter(({ state }) => state === 'unexplained' || state === 'failed').length)
  return (
    <section class={`verdict is-${ready ? 'inside' : 'outside'}`} aria-labelledby="verdict">
      <h2 id="verdict">
        <Icon name={ready ? 'inside' : 'outside'} />
        {ready ? 'Ready to cut over' : 'Not ready to cut over'}
      </h2>
      <p>
        {many(of('inside'), 'operation')} of {count(operations.length)} {of('inside') === 1 ? 'is' : 'are'} inside the target of{' '}
        {percent(target)} wrong answers
        {against && (
          <>
            ; the report of {time(against.generatedAt)} was {against.ready ? 'ready' : 'not ready'}
          </>
        )}
        .
      </p>
      <Shares operations={operations} />
      <dl class="figures">
        <Figure name="requests" value={count(sum(({ calls, requests }) => Math.max(calls, requests)))} />
        <Figure name="observations" value={count(sum(({ n }) => n))} />
        <Figure name="wrong" value={count(sum(({ mismatches, errors }) => mismatches + errors))} />
        <Figure name={unexplained === 1 ? 'difference to mend' : 'differences to mend'} value={count(unexplained)} />
        <Figure name="clients" value={count(report.clients.length)} />
        {span && <Figure name={`since ${time(span.from).slice(0, 16)}`} value={duration(span.to - span.from)} />}
      </dl>
      {!ready && (
        <details>
          <summary>{many(reasons.length, 'reason')} why not</summary>
          <ul>
            {reasons.map((reason) => (
              <li key={reason}>{reason}</li>
            ))}
          </ul>
        </details>
      )}
    </section>
  )
}

function Figure({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}

/** How many operations stand where, as one bar whose parts say their names. */
function Shares({ operations }: { readonly operations: readonly OperationReport[] }) {
  const parts = [...ORDER].reverse().map((standing) => ({ standing, n: operations.filter((one) => one.standing === standing).length }))
  return (
    <ul class="shares" aria-label="Operations by verdict">
      {parts
        .filter(({ n }) => n > 0)
        .map(({ standing, n }) => (
          <li key={standing} class={`is-${standing}`} style={{ flexGrow: n }}>
            <strong>{count(n)}</strong> {STANDINGS[standing].word.toLowerCase()}
          </li>
        ))}
    </ul>
  )
}

function OperationTable({ report }: { readonly report: Report }) {
  const [text, setText] = useState('')
  const [only, setOnly] = useState<Standing | undefined>(undefined)
  const shown = report.operations.filter((one) => one.operation.includes(text.trim()) && (only === undefined || one.standing === only))
  return (
    <section aria-labelledby="operations">
      <div class="bar">
        <h2 id="operations">State of every operation</h2>
        <Filter report={report} only={only} onOnly={setOnly} text={text} onText={setText} />
      </div>
      <div class="table">
        <table class="operations">
          <thead>
            <tr>
              <th scope="col">Verdict</th>
              <th scope="col">Operation</th>
              <th scope="col" class="plot">
                <span class="visually-hidden">Bound against target</span>
                <RangeAxis target={report.target} />
              </th>
              <th scope="col">Trend</th>
              <th scope="col" class="number">
                Observed
              </th>
              <th scope="col" class="number">
                Wrong
              </th>
              <th scope="col" class="number">
                To go
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map((one) => (
              <Row key={one.operation} one={one} target={report.target} />
            ))}
          </tbody>
        </table>
      </div>
      <p role="status" class="quiet">
        {shown.length < report.operations.length && `${many(shown.length, 'operation')} of ${count(report.operations.length)} shown`}
      </p>
    </section>
  )
}

function Row({ one, target }: { readonly one: OperationReport; readonly target: number }) {
  const wrong = one.mismatches + one.errors
  return (
    <tr>
      <td>
        <StandingChip of={one.standing} />
      </td>
      <th scope="row">
        <a href={hashOf({ view: 'operation', operation: one.operation })}>{one.operation}</a>
        <span class="quiet below">
          {many(Math.max(one.calls, one.requests), 'request')}
          {one.modes.length > 0 && ` · ${one.modes.join(', ')}`}
        </span>
      </th>
      <td class="plot">
        <RangePlot operation={one} target={target} />
      </td>
      <td>
        <Sparkline trend={one.trend} target={target} />
      </td>
      <td class="number">{count(one.n)}</td>
      <td class={`number ${wrong > 0 ? 'wrong' : ''}`}>{count(wrong)}</td>
      <td class="number">{one.needed === undefined ? '–' : one.needed === 0 ? 'done' : count(one.needed)}</td>
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
        {([undefined, ...ORDER] as const).map((standing) => {
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

/** What the older report had, and this one has not. */
function Gone({ report }: { readonly report: Report }) {
  const gone = report.against?.gone ?? []
  if (gone.length === 0) return null
  return (
    <section aria-labelledby="gone">
      <h2 id="gone">No longer seen</h2>
      <ul class="plain">
        {gone.map((one) => (
          <li key={`${one.operation} ${one.state} ${one.kind} ${one.where} ${one.code}`}>
            <code>{one.operation}</code> {one.kind} at <code>{placeOf(one)}</code> {one.code !== undefined && <>({one.code})</>}
            <span class="quiet"> {many(one.findings, 'finding')} then</span>
          </li>
        ))}
      </ul>
    </section>
  )
}
