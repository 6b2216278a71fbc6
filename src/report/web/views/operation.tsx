import { OBSERVATION, percent, wrongOf } from '../../../migrate/evidence/evidence.ts'
import { uncomparedSentences } from '../../../migrate/evidence/standing.ts'
import type { OperationReport } from '../../report.ts'
import { BoundChart } from '../charts/bound-chart.tsx'
import { Lanes } from '../charts/lanes.tsx'
import { notesOf } from '../charts/markers.tsx'
import { outcomeLanes } from '../charts/outcome-lanes.ts'
import { count, many } from '../format.ts'
import { Badges } from '../now/badges.tsx'
import { StandingChip } from '../verdict.tsx'
import { Differences, type OperationProps } from './differences.tsx'
import { Latency } from './latency.tsx'
import { NextStepView } from './next-step.tsx'
import { NoteLegend } from './timeline/note-list.tsx'

/** Shows one operation: its verdict, its progress and its differences. */
export function OperationView({ operation, report }: OperationProps) {
  const notes = notesOf(report, operation.operation)
  return (
    <>
      <p class="lead">
        <StandingChip of={operation.standing} /> {operation.reason.replace(`${operation.operation}: `, '').replace(/^INCONCLUSIVE /, '')}
      </p>
      {report.now && (
        <p class="in-force">
          In force: <Badges operation={operation.operation} now={report.now} />
        </p>
      )}
      <NextStepView operation={operation} report={report} />
      <Counts operation={operation} />
      <Differences operation={operation} report={report} />
      {operation.trend.length > 0 && <BoundChart operation={operation} report={report} notes={notes} />}
      {operation.steps.length > 0 && <Lanes caption="Comparisons" lanes={outcomeLanes(operation.steps)} report={report} notes={notes} />}
      <NoteLegend notes={notes} />
      <Uncompared operation={operation} />
      {operation.latency && <Latency v1={operation.latency.v1} v2={operation.latency.v2} />}
      {operation.writes > 0 && <Unsent operation={operation} />}
    </>
  )
}

function Counts({ operation }: { readonly operation: OperationReport }) {
  const {
    n,
    repeats,
    matches,
    expected,
    noise,
    races,
    inconclusive,
    mismatches,
    transients,
    errors,
    callers,
    shapes,
    share,
    before,
    bound,
  } = operation
  const rows: readonly (readonly [string, number])[] = [
    ['observations', n],
    ['repeats compared', repeats.n],
    ['equal', matches],
    ['declared', expected],
    ['noise', noise],
    ['mismatches', mismatches],
    ['transient', transients],
    ['errors', errors],
    ['races', races],
    ['open', inconclusive],
    ['callers', callers],
    ['kinds of request', shapes],
  ]
  return (
    <>
      <dl class="figures">
        {rows.map(([name, value]) => (
          <div key={name} class={value === 0 ? 'is-none' : ''}>
            <dt>{name}</dt>
            <dd>{count(value)}</dd>
          </div>
        ))}
      </dl>
      {n > 0 && (
        <p class="quiet">
          The bound speaks of the observations that were chosen, each kind of request alike. Weighed by requests, {percent(share)} of the
          answers were wrong. {OBSERVATION}
        </p>
      )}
      {before && (
        <p class="quiet">
          In the older report: {before.standing}, bound {percent(before.bound)} (now {percent(bound)}), {many(before.n, 'observation')},{' '}
          {many(wrongOf(before), 'wrong answer')}.
        </p>
      )}
    </>
  )
}

/** Says what was not compared, why, and what to change. */
function Uncompared({ operation }: { readonly operation: OperationReport }) {
  const sentences = uncomparedSentences(operation.uncompared)
  if (sentences.length === 0) return null
  return (
    <section aria-labelledby="uncompared">
      <h2 id="uncompared">Not compared</h2>
      <ul class="plain">
        {sentences.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
    </section>
  )
}

function Unsent({ operation }: { readonly operation: OperationReport }) {
  return (
    <section aria-labelledby="unsent">
      <h2 id="unsent">Calls that v2 would have got</h2>
      <p class="quiet">{many(operation.writes, 'write')} went to v1 alone; the last of what v2 would have been sent:</p>
      <ul class="plain unsent">
        {operation.wouldSend.map(({ at, call }) => (
          <li key={`${at} ${call.path}`}>
            <code>
              {call.method} {call.path}
              {call.query.length > 0 && `?${call.query.map(([name, value]) => `${name}=${String(value)}`).join('&')}`}
            </code>
            {call.body !== undefined && <pre>{JSON.stringify(call.body, null, 2)}</pre>}
          </li>
        ))}
      </ul>
    </section>
  )
}
