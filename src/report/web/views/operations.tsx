import type { Standing } from '../../../migrate/evidence/cutover.ts'
import { percent, wrongOf } from '../../../migrate/evidence/evidence.ts'
import { TO_MEND } from '../../difference.ts'
import type { OperationReport, Report } from '../../report.ts'
import { Lanes } from '../charts/lanes.tsx'
import { notesOf } from '../charts/markers.tsx'
import { outcomeLanes } from '../charts/outcome-lanes.ts'
import { count, duration, many, time } from '../format.ts'
import { Icon } from '../verdict.tsx'
import { placeOf, STANDING_ORDER, STANDINGS } from '../words.ts'
import { Empty } from './empty.tsx'
import { OperationTable } from './operation-table.tsx'
import { NoteLegend } from './timeline/note-list.tsx'

interface Props {
  readonly report: Report
}

/** Shows the state of every operation at a glance. */
export function Operations({ report }: Props) {
  if (report.operations.length === 0) return <Empty report={report} />
  return (
    <>
      <Verdict report={report} />
      <OperationTable report={report} />
      {report.span && (
        <Lanes
          caption="Comparisons of all operations"
          lanes={outcomeLanes(report.timeline.steps)}
          report={report}
          notes={notesOf(report)}
        />
      )}
      <NoteLegend notes={notesOf(report)} />
      <Gone report={report} />
    </>
  )
}

export function Verdict({ report }: { readonly report: Report }) {
  const { operations, ready, target, reasons, span, against } = report
  const of = (standing: Standing) => operations.filter((one) => one.standing === standing).length
  const sum = (pick: (one: OperationReport) => number) => operations.reduce((total, one) => total + pick(one), 0)
  const unexplained = sum(({ differences }) => differences.filter(({ state }) => TO_MEND.has(state)).length)
  return (
    <section class={`verdict is-${ready ? 'inside' : 'outside'}`} aria-labelledby="verdict">
      <h2 id="verdict">
        <Icon name={ready ? 'inside' : 'outside'} />
        {ready ? 'Ready' : 'Not ready'} {report.withoutV1 ? 'to switch v1 off' : 'to cut over'}
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
        <Figure name="requests" value={count(sum(({ calls, comparisons }) => Math.max(calls, comparisons)))} />
        <Figure name="observations" value={count(sum(({ n }) => n))} />
        <Figure name="wrong" value={count(sum(wrongOf))} />
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

/** Draws the number of operations in each state as one bar with labelled parts. */
function Shares({ operations }: { readonly operations: readonly OperationReport[] }) {
  const parts = [...STANDING_ORDER]
    .reverse()
    .map((standing) => ({ standing, n: operations.filter((one) => one.standing === standing).length }))
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

/** Lists what the older report had and this one has not. */
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
