import { percent } from '../../../diff/percent.ts'
import type { Difference, OperationReport, Quantiles, Report } from '../../report.ts'
import { BoundChart } from '../charts/bound-chart.tsx'
import { Lanes } from '../charts/lanes.tsx'
import { notesOf } from '../charts/markers.tsx'
import { outcomeLanes } from '../charts/outcome-lanes.ts'
import { count, many, milliseconds, time } from '../format.ts'
import { hashOf } from '../route.ts'
import { StandingChip, StateChip } from '../verdict.tsx'
import { KINDS, placeOf } from '../words.ts'

interface Props {
  readonly operation: OperationReport
  readonly report: Report
}

/** One operation: its verdict, its way there, and its differences. */
export function OperationView({ operation, report }: Props) {
  const notes = notesOf(report, operation.operation)
  return (
    <>
      <p class="lead">
        <StandingChip of={operation.standing} /> {operation.reason.replace(`${operation.operation}: `, '')}
      </p>
      <Counts operation={operation} />
      <Differences operation={operation} report={report} />
      {operation.trend.length > 0 && <BoundChart operation={operation} report={report} notes={notes} />}
      {operation.steps.length > 0 && <Lanes caption="Comparisons" lanes={outcomeLanes(operation.steps)} report={report} notes={notes} />}
      {operation.latency && <Latency v1={operation.latency.v1} v2={operation.latency.v2} />}
      {operation.writes > 0 && <Unsent operation={operation} />}
    </>
  )
}

function Counts({ operation }: { readonly operation: OperationReport }) {
  const { n, matches, expected, noise, races, inconclusive, mismatches, errors, callers, shapes, before, bound } = operation
  const rows: readonly (readonly [string, number])[] = [
    ['observations', n],
    ['equal', matches],
    ['declared', expected],
    ['noise', noise],
    ['mismatches', mismatches],
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
      {before && (
        <p class="quiet">
          In the older report: {before.standing}, bound {percent(before.bound)} (now {percent(bound)}), {many(before.n, 'observation')},{' '}
          {many(before.mismatches + before.errors, 'wrong answer')}.
        </p>
      )}
    </>
  )
}

function Differences({ operation, report }: Props) {
  const { differences, furtherDifferences } = operation
  return (
    <section aria-labelledby="differences">
      <h2 id="differences">Differences</h2>
      {differences.length === 0 && <p class="quiet">{operation.n > 0 ? 'Every answer was the same.' : 'Nothing was compared.'}</p>}
      {differences.length > 0 && (
        <div class="table">
          <table class="differences">
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
        </div>
      )}
      {furtherDifferences > 0 && <p class="quiet">{many(furtherDifferences, 'finding')} of further differences are not kept apart.</p>}
    </section>
  )
}

function DifferenceRow({ one, operation: { operation }, report }: Props & { readonly one: Difference }) {
  return (
    <tr>
      <td>
        <StateChip of={one.state} />
        {one.isNew && <span class="chip is-new">New</span>}
      </td>
      <th scope="row">
        <a href={hashOf({ view: 'difference', operation, difference: one.key })}>
          <code>{placeOf(one)}</code>
        </a>
      </th>
      <td>
        <strong>{one.kind}</strong> <span class="quiet below">{one.code ?? KINDS[one.kind]}</span>
      </td>
      <td>
        <Ticks one={one} report={report} />
        <span class="quiet below">last {time(one.lastAt).slice(0, 16)}</span>
      </td>
      <td class="number">{count(one.comparisons)}</td>
      <td class="number">{count(one.callers)}</td>
    </tr>
  )
}

const WIDTH = 160
const HEIGHT = 22

/** When a difference was seen, as small bars over the whole span. */
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

/** How long the two sides took, on one scale. */
function Latency({ v1, v2 }: { readonly v1: Quantiles; readonly v2: Quantiles }) {
  const most = Math.max(v1.p95, v2.p95, 1)
  const rows = [
    ['v1', v1],
    ['v2', v2],
  ] as const
  return (
    <section aria-labelledby="latency">
      <h2 id="latency">Time to answer</h2>
      <table class="latency">
        <thead class="visually-hidden">
          <tr>
            <th scope="col">Side</th>
            <th scope="col">Median and 95th percentile</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, { p50, p95 }]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>
                <svg class={`bar-pair is-${name}`} viewBox="0 0 400 16" aria-hidden="true">
                  <rect class="far" x="0" y="4" width={Math.max(2, (p95 / most) * 400)} height="8" />
                  <rect class="near" x="0" y="1" width={Math.max(2, (p50 / most) * 400)} height="14" />
                </svg>
                median {milliseconds(p50)}, 95 % within {milliseconds(p95)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
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
