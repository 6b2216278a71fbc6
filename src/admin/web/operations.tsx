import { useState } from 'preact/hooks'
import { STANDING_ORDER, type Standing } from '../../migrate/evidence/cutover.ts'
import { clausesOf, count, many, OBSERVATION, percent, wrongOf } from '../../migrate/evidence/evidence.ts'
import { type MissingKind, wrongText } from '../../migrate/evidence/kinds.ts'
import { accountSentence, timeNeeded, uncomparedSentences } from '../../migrate/evidence/standing.ts'
import { TO_MEND } from '../report/difference.ts'
import { nextStep } from '../report/next-step.ts'
import type { OperationReport, Quantiles, Report } from '../report/report.ts'
import { BoundChart, isComparable, Lanes, notesOf, outcomeLanes, RangeAxis, RangePlot } from './charts.tsx'
import { Icon, Items, NumberCell, numbers, OperationLink, Paste, PasteList, StandingChip, Table, useHeldOrder } from './kit.tsx'
import { adminAddress } from './live.tsx'
import { Badges, CircuitClose, OperationBack } from './now.tsx'
import { Differences, Empty, NoteLegend } from './views.tsx'
import { duration, milliseconds, placeOf, STANDINGS, time } from './words.ts'

function OperationTable({ report }: { readonly report: Report }) {
  const [text, setText] = useState('')
  const [only, setOnly] = useState<Standing | undefined>(undefined)
  const shown = useHeldOrder(report.operations).filter(
    (one) => one.operation.includes(text.trim()) && (only === undefined || one.standing === only),
  )
  return (
    <section aria-labelledby="operations">
      <div class="bar">
        <h2 id="operations">State of every operation</h2>
        <search class="filter">
          <fieldset>
            <legend class="visually-hidden">Verdict</legend>
            {([undefined, ...STANDING_ORDER] as const).map((standing) => {
              const n = report.operations.filter((one) => standing === undefined || one.standing === standing).length
              return (
                <label key={standing ?? 'all'}>
                  <input type="radio" name="standing" checked={only === standing} onChange={() => setOnly(standing)} />
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
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </search>
      </div>
      <Table
        label="Table of operations"
        kind="operations cards"
        columns={[
          'Verdict',
          'Operation',
          {
            head: (
              <>
                Wrong answers, 95 % bound
                <RangeAxis target={report.target} />
              </>
            ),
            class: 'plot',
            title: 'The line runs from the share of wrong answers that was seen to its 95 % bound, the dot.',
          },
          { head: 'Observations', class: 'number', title: OBSERVATION },
          numbers('Wrong'),
          numbers('Clean observations to go'),
        ]}
      >
        {shown.map((one) => (
          <Row key={one.operation} one={one} report={report} />
        ))}
      </Table>
      <p class="quiet">{OBSERVATION}</p>
      <p role="status" class="quiet">
        {shown.length < report.operations.length && `${many(shown.length, 'operation')} of ${count(report.operations.length)} shown`}
      </p>
    </section>
  )
}

function Row({ one, report: { target: general, now } }: { readonly one: OperationReport; readonly report: Report }) {
  const wrong = wrongOf(one)
  const target = one.target ?? general
  return (
    <tr>
      <td>
        <StandingChip of={one.standing} />
      </td>
      <th scope="row">
        <OperationLink operation={one.operation} />
        <span class="quiet below">
          {many(Math.max(one.calls, one.comparisons), 'request')}
          {now ? <Badges operation={one.operation} now={now} /> : one.modes.length > 0 && ` · ${one.modes.join(', ')}`}
        </span>
        {one.accepted && (
          <span class="quiet below">
            accepted without proof until {one.accepted.until}: {one.accepted.reason}
          </span>
        )}
      </th>
      <td class="plot">
        <RangePlot operation={one} target={target} />
        {one.n > 0 && isComparable(one) && <RangeAxis target={target} />}
      </td>
      <NumberCell label="Observations" of={one.n} />
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

/** Draws the latencies of both sides on one scale. */
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

/** Says what to do next about an operation, and prints the commands for it. The page runs none of them; with a token it can go back. */
function NextStepView({ operation, report }: { readonly operation: OperationReport; readonly report: Report }) {
  const { sentence, commands } = nextStep(operation, report, adminAddress())
  const [first, ...others] = commands
  return (
    <section class="next" aria-labelledby="next">
      <h2 id="next">Next step</h2>
      <p>{sentence}</p>
      {first && (
        <>
          <h3>{first.title}</h3>
          <Paste name={first.title} text={first.text} />
        </>
      )}
      <PasteList texts={others} />
      {report.now && <CircuitClose operation={operation.operation} now={report.now} />}
      {report.now && <OperationBack operation={operation.operation} now={report.now} />}
    </section>
  )
}

/** Shows one operation: its verdict, its progress and its differences. */
export function OperationView({ operation, report }: { readonly operation: OperationReport; readonly report: Report }) {
  const notes = notesOf(report, operation.operation)
  // The chip beside it says the verdict.
  const reason = operation.reason.replace(`${operation.operation}: `, '').replace(/^(?:INCONCLUSIVE|OUTSIDE:|HELD BACK,) /, '')
  return (
    <>
      <p class="lead">
        <StandingChip of={operation.standing} /> <Clauses of={reason} />
      </p>
      {report.now && (
        <p class="in-force">
          Active: <Badges operation={operation.operation} now={report.now} />
        </p>
      )}
      <NextStepView operation={operation} report={report} />
      <MissingKinds operation={operation} />
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

const MISSING: Readonly<Record<Exclude<MissingKind['why'], 'wrong'>, string>> = {
  rare: 'seen too seldom',
  'one-caller': 'seen of one of its callers only',
}

/** Lists the kinds of requests that nobody saw work often enough. */
function MissingKinds({ operation: { missing = [] } }: { readonly operation: OperationReport }) {
  if (missing.length === 0) return null
  return (
    <section aria-labelledby="missing">
      <h2 id="missing">Kinds of requests that are blind spots</h2>
      <p class="quiet">
        They were not seen to work often enough. Requests are of one kind if their parameters have values of the same class.
      </p>
      <Table
        label="Table of kinds of requests"
        columns={['Parameters', numbers('Requests, by an estimate'), numbers('Seen the same'), 'Missing']}
      >
        {missing.map(({ kind, requests, same, rehearsed = 0, why, wrongTo = [] }) => (
          <tr key={kind}>
            <th scope="row">{kind === '' ? 'none' : <code>{kind}</code>}</th>
            <td class="number">{count(requests)}</td>
            <td class="number">
              {count(same)}
              {rehearsed > 0 && `, ${count(rehearsed)} rehearsed`}
            </td>
            <td>{why === 'wrong' ? wrongText(wrongTo) : MISSING[why]}</td>
          </tr>
        ))}
      </Table>
    </section>
  )
}

function Counts({ operation }: { readonly operation: OperationReport }) {
  const { n, share, before, bound } = operation
  return (
    <>
      <dl class="figures">
        {FIGURES.map(([name, of]) => (
          <div key={name} class={of(operation) === 0 ? 'is-none' : ''}>
            <dt>{name}</dt>
            <dd>{count(of(operation))}</dd>
          </div>
        ))}
      </dl>
      {n > 0 && (
        <p class="quiet">
          At 95 %, no larger share of the observations than the bound is wrong; each kind of request counts alike. Weighed by requests,{' '}
          {percent(share)} of the answers were wrong. {OBSERVATION}
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

/** What is counted of an operation. */
const FIGURES: readonly (readonly [name: string, of: (one: OperationReport) => number])[] = [
  ['observations', ({ n }) => n],
  ['repeats compared', ({ repeats }) => repeats.n],
  ['equal', ({ matches }) => matches],
  ['declared', ({ expected }) => expected],
  ['noise', ({ noise }) => noise],
  ['mismatches', ({ mismatches }) => mismatches],
  ['transient', ({ transients }) => transients],
  ['errors', ({ errors }) => errors],
  ['races', ({ races }) => races],
  ['open', ({ inconclusive }) => inconclusive],
  ['callers', ({ callers }) => callers],
  ['kinds of request', ({ shapes }) => shapes],
]

/** Says what was not compared, why, and what to change. */
function Uncompared({ operation }: { readonly operation: OperationReport }) {
  const sentences = uncomparedSentences(operation.uncompared)
  if (sentences.length === 0 && operation.booked.uses === undefined) return null
  return (
    <section aria-labelledby="uncompared">
      <h2 id="uncompared">How its requests counted</h2>
      <p>
        {accountSentence(operation)}. <span class="quiet">A use is a request in a diff mode whose caller a side accepted.</span>
      </p>
      <Items of={sentences} kind="plain" />
    </section>
  )
}

function Unsent({ operation }: { readonly operation: OperationReport }) {
  return (
    <section aria-labelledby="unsent">
      <h2 id="unsent">Calls that v2 would have received</h2>
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

/** Shows the state of every operation at a glance. */
export function Operations({ report }: { readonly report: Report }) {
  if (report.operations.length === 0) return <Empty report={report} />
  const notes = notesOf(report)
  return (
    <>
      <Verdict report={report} />
      <OperationTable report={report} />
      {report.span && (
        <Lanes caption="Comparisons of all operations" lanes={outcomeLanes(report.timeline.steps)} report={report} notes={notes} />
      )}
      <NoteLegend notes={notes} />
      <Gone report={report} />
    </>
  )
}

function Verdict({ report }: { readonly report: Report }) {
  const { operations, ready, target, reasons, span, against, whole } = report
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
        {percent(target)} wrong answers{whole && ' by themselves'}
        {against && (
          <>
            ; the report of {time(against.generatedAt)} was {against.ready ? 'ready' : 'not ready'}
          </>
        )}
        .
      </p>
      {whole && whole.requests > 0 && (
        <p>
          {whole.reason} {whole.when}
        </p>
      )}
      <ul class="shares" aria-label="Operations by verdict">
        {STANDING_ORDER.toReversed()
          .filter((standing) => of(standing) > 0)
          .map((standing) => (
            <li key={standing} class={`is-${standing}`} style={{ flexGrow: of(standing) }}>
              <strong>{count(of(standing))}</strong> {STANDINGS[standing].word.toLowerCase()}
            </li>
          ))}
      </ul>
      <dl class="figures">
        <Figure name="requests" value={count(sum(({ calls, comparisons }) => Math.max(calls, comparisons)))} />
        <Figure name="observations" value={count(sum(({ n }) => n))} />
        <Figure name="wrong" value={count(sum(wrongOf))} />
        <Figure name={unexplained === 1 ? 'difference to fix' : 'differences to fix'} value={count(unexplained)} />
        <Figure name="clients" value={count(report.clients.length)} />
        {span && <Figure name={`of records, from ${time(span.from).slice(0, 16)}`} value={duration(span.to - span.from)} />}
      </dl>
      {!ready && (
        <details>
          <summary>{many(reasons.length, 'reason')} why not</summary>
          <ul>
            {reasons.map((reason) => (
              <li key={reason}>
                <Clauses of={reason} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  )
}

/** A reason: the verdict, and each further clause on a line of its own. */
function Clauses({ of }: { readonly of: string }) {
  const [verdict, ...others] = clausesOf(of)
  return (
    <>
      {verdict}
      {others.map((clause) => (
        <span key={clause} class="clause quiet">
          {' '}
          {clause}
        </span>
      ))}
    </>
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
