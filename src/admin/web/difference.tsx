import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { count, many } from '../../migrate/evidence/evidence.ts'
import type { RecordedSide } from '../../migrate/records/record.ts'
import { shellQuoted } from '../../tables/check.ts'
import { isDeclarable } from '../report/commands.ts'
import { type Difference, type EqualExample, type ExampleReport, isOfRequest } from '../report/difference.ts'
import { declare } from '../report/next-step.ts'
import type { OperationReport, Report } from '../report/report.ts'
import { type AlignedLine, alignedLines, alignedRows, type Cell, differingSpan, type LineMark, sidesOf, wholes } from './aligned.ts'
import { Lanes, notesOf } from './charts.tsx'
import { CopyButton, PasteList, StateChip, VirtualList } from './kit.tsx'
import { isMasked, KINDS, milliseconds, STATES, said, time } from './words.ts'

/** Shows JSON of both sides line by line. A narrow window shows equal lines once, and lines that differ below each other. */
function AlignedJson({ lines, example }: { readonly lines: readonly AlignedLine[]; readonly example: ExampleReport }) {
  const { v1Side, v2Side } = example
  return (
    <table class="aligned">
      <caption class="visually-hidden">{captionOf(example)} on both sides</caption>
      <thead>
        <tr>
          <th scope="col">{v1Side && <SideHead name="v1" side={v1Side} example={example} />}</th>
          <th scope="col">
            <SideHead name="v2" side={v2Side} example={example} />
          </th>
        </tr>
      </thead>
      <tbody>
        {lines.map((line, at) => (
          <tr key={at} class={line.v1?.text === line.v2?.text ? 'is-same' : ''}>
            <LineCell side="v1" own={line.v1} other={line.v2} />
            <LineCell side="v2" own={line.v2} other={line.v1} />
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function SideHead({
  name,
  side: { status, code, ms },
  example,
}: {
  readonly name: 'v1' | 'v2'
  readonly side: RecordedSide
  readonly example: ExampleReport
}) {
  const shown = example.around?.[name] ?? example[name]
  return (
    <span class="side-head">
      <b>{name}</b>
      <span>HTTP {status}</span>
      {code !== undefined && <span>code {code}</span>}
      {ms !== undefined && <span>{milliseconds(ms)}</span>}
      {shown !== undefined && <CopyButton text={JSON.stringify(shown, null, 2)} what={`the JSON of ${name}`} />}
    </span>
  )
}

const SIGNS = { v1: { same: '', place: '−', other: '~' }, v2: { same: '', place: '+', other: '~' } } as const

const SPOKEN = { same: '', place: 'differs: ', other: 'differs too: ' } as const

function LineCell({ side, own, other }: { readonly side: 'v1' | 'v2'; readonly own: Cell | undefined; readonly other: Cell | undefined }) {
  if (!own) return <td class={`is-${side} is-none`} />
  const { text, mark, depth, row } = own
  // The lines of one text hang; several lines in one cell are indented themselves.
  const hang = text.includes('\n') ? 0 : 1
  const [before, differing, after] = mark === 'place' ? differingSpan(text, other?.text) : [text, '', '']
  return (
    <td class={`is-${side} is-${mark}`}>
      <span class="row-number">{row}</span>
      <span class="sign" aria-hidden="true">
        {SIGNS[side][mark]}
      </span>
      {mark !== 'same' && <span class="visually-hidden">{SPOKEN[mark]}</span>}
      <code style={{ paddingLeft: `${depth * 1.2 + hang}em`, textIndent: `${-hang}em` }}>
        {before}
        {differing !== '' && <mark>{differing}</mark>}
        {after}
      </code>
    </td>
  )
}

/** One row of the list: an example, and those that are equal. */
function ExampleRow({ example }: { readonly example: ExampleReport }) {
  const { equal, subject, caller, row, pointer, v1Side, v2Side } = example
  const [v1, v2] = [plainOf(example, 'v1'), plainOf(example, 'v2')]
  return (
    <>
      <span>
        {equal && <b>{count(1 + equal.length)} × </b>}
        {whenOf(example)} by <code>{(subject ?? caller).slice(0, 20)}</code>
      </span>
      <span class="quiet below">
        {pointer || ['HTTP', v1Side && `${v1Side.status} and`, v2Side.status].filter(Boolean).join(' ')}{' '}
        {v1 !== '' || v2 !== '' ? `${v1 || '–'} → ${v2 || '–'}` : row === undefined ? '' : `row ${row}`}
      </span>
    </>
  )
}

/** `2026-03-01 13:55–14:10`, or one time. */
function whenOf({ at, equal }: ExampleReport): string {
  const first = equal?.at(-1)?.at
  const [last, from] = [time(at), first === undefined ? '' : time(first)]
  if (first === undefined || from === last) return last
  return from.slice(0, 10) === last.slice(0, 10)
    ? `${from.slice(0, 16)}–${last.slice(11, 16)}`
    : `${from.slice(0, 16)} – ${last.slice(0, 16)}`
}

/** A scalar as text; nothing for what would not fit. */
function plainOf(example: ExampleReport, side: 'v1' | 'v2'): string {
  const value = example[side]
  return value === undefined || (typeof value === 'object' && value !== null) ? '' : JSON.stringify(value)
}

/** Most that are listed. */
const MOST = 100

/** Lists the comparisons that show the same as an example. Only mismatches can be made into tests. */
function EqualExamples({ example, isMismatch }: { readonly example: ExampleReport; readonly isMismatch: boolean }) {
  const { equal = [] } = example
  if (equal.length === 0) return null
  const all: readonly EqualExample[] = [example, ...equal]
  const further = all.length - MOST
  return (
    <details class="equal">
      <summary>
        {many(all.length, 'equal comparison')} of this caller, {whenOf(example)}
      </summary>
      <ol>
        {all.slice(0, MOST).map((one) => (
          <li key={one.id}>
            <span>{time(one.at)}</span> <span>{one.mode}</span>
            {one.replica !== undefined && <code>{one.replica}</code>}
            <span class="quiet">{[latency('v1', one.v1Side?.ms), latency('v2', one.v2Side.ms)].filter(Boolean).join(', ')}</span>
            {one.request && one.request.url !== example.request?.url && <code>{one.request.url}</code>}
            {isMismatch && isOfRequest(one) && (
              <CopyButton text={`crosswalk case ${one.id}`} what={`the command for the test of ${time(one.at)}`} />
            )}
          </li>
        ))}
      </ol>
      {further > 0 && <p class="quiet">{count(further)} older ones are not listed.</p>}
    </details>
  )
}

function latency(side: 'v1' | 'v2', ms: number | undefined): string {
  return ms === undefined ? '' : `${side} ${milliseconds(ms)}`
}

const CHECKS: Readonly<Record<ExampleReport['check'], string>> = {
  read: '',
  'after-write': 'Both sides were asked this after a write: ',
  write: 'Only v2 was sent this write: ',
}

/** Shows where and when a comparison was made, and what to run to look closer. */
function ExampleFacts({ example, isMismatch }: { readonly example: ExampleReport; readonly isMismatch: boolean }) {
  const { id, at, caller, subject, replica, mode, shape, check, request, pointer, row, reason } = example
  const url = request && `${request.method} ${request.url}`
  return (
    <dl class="facts">
      <Fact name="v1 request" wide copy={request?.url} what="the v1 URL">
        <span class="quiet">{CHECKS[check]}</span>
        <code>{url ?? shape}</code>
      </Fact>
      {url !== undefined && check === 'read' && isOfRequest(example) && !url.endsWith('…') && (
        <Fact name="Its v2 calls" wide copy={`crosswalk explain ${shellQuoted(url)}`} what="the command that explains it">
          <code>crosswalk explain {shellQuoted(url)}</code>
        </Fact>
      )}
      {isMismatch && isOfRequest(example) && (
        <Fact name="As a test" wide copy={`crosswalk case ${id}`} what="the command that prints the test">
          <code>crosswalk case {id}</code>
        </Fact>
      )}
      {row !== undefined && (
        <Fact name="Row id" wide copy={row} what="the id of the row">
          <code>{row}</code>
        </Fact>
      )}
      {pointer !== undefined && pointer !== '' && (
        <Fact name="Place">
          <code>{pointer}</code>
        </Fact>
      )}
      <Fact name="When">{time(at)} UTC</Fact>
      <Fact name="Client">
        <code>{subject ?? caller}</code>
      </Fact>
      <Fact name="Mode">{mode}</Fact>
      {replica !== undefined && (
        <Fact name="Replica">
          <code>{replica}</code>
        </Fact>
      )}
      {reason !== undefined && (
        <Fact name="Remark" wide>
          {reason}
        </Fact>
      )}
    </dl>
  )
}

/** A fact. `copy` is text for the clipboard, and `what` its name for screen readers. */
function Fact({
  name,
  wide = false,
  copy,
  what = '',
  children,
}: {
  readonly name: string
  readonly wide?: boolean
  readonly copy?: string | undefined
  readonly what?: string
  readonly children: ComponentChildren
}) {
  return (
    <div class={wide ? 'is-wide' : ''}>
      <dt>{name}</dt>
      <dd>
        {children} {copy !== undefined && <CopyButton text={copy} what={what} />}
      </dd>
    </div>
  )
}

interface ExampleProps {
  readonly example: ExampleReport
  readonly kind: Difference['kind']
  /** Only mismatches can be made into tests. */
  readonly isMismatch: boolean
}

/** Shows one example: what differs, the request, and the JSON around the place on both sides. */
function ExampleView({ example, kind, isMismatch }: ExampleProps) {
  const sentence = said(kind, example)
  const lines = linesOf(example, kind)
  return (
    <div class="example">
      {sentence !== '' && (
        <p class="said" role="status">
          {sentence}
        </p>
      )}
      {lines.length > 0 && (
        <>
          <AlignedJson lines={lines} example={example} />
          <Legend lines={lines} example={example} />
        </>
      )}
      <ExampleFacts example={example} isMismatch={isMismatch} />
      <EqualExamples example={example} isMismatch={isMismatch} />
    </div>
  )
}

function linesOf(example: ExampleReport, kind: Difference['kind']): readonly AlignedLine[] {
  const { around } = example
  if (around?.rows) return alignedRows(around, example, kind === 'order')
  const { v1, v2 } = sidesOf(around ?? example)
  if (!v1 && !v2) return []
  // Answers of different statuses have no lines in common.
  if (kind === 'status' || kind === 'error') return around ? wholes(v1, v2) : []
  return alignedLines(v1, v2, { depth: 0, path: around ? around.path : [], whole: sidesOf(example) })
}

function captionOf({ around, pointer = '' }: ExampleReport): string {
  const at = around?.at ?? pointer
  if (around?.rows) return `The rows next to it in ${at || 'the answer'}`
  return at === '' ? 'The answer' : `JSON of ${at}`
}

function Legend({ lines, example }: { readonly lines: readonly AlignedLine[]; readonly example: ExampleReport }) {
  const has = (mark: LineMark) => lines.some(({ v1, v2 }) => v1?.mark === mark || v2?.mark === mark)
  return (
    <p class="quiet legend">
      {captionOf(example)}.{' '}
      {has('place') && (
        <>
          <b>−</b> v1 and <b>+</b> v2 mark the difference.{' '}
        </>
      )}
      {has('other') && (
        <>
          <b>~</b> marks what differs too.{' '}
        </>
      )}
      {isMasked(example) && (
        <>
          Texts are masked as their length and a hash. With <code>records.values=shown</code>, later records hold them.
        </>
      )}
    </p>
  )
}

/** Shows one difference: its place and kind, when it occurred, and its examples side by side. */
export function DifferenceView({
  difference,
  operation: { operation },
  report,
}: {
  readonly difference: Difference
  readonly operation: OperationReport
  readonly report: Report
}) {
  const { state, kind, code, comparisons, findings, callers, examples, steps } = difference
  const declared = report.declarations.find((one) => one.code === code)
  const kept = examples.reduce((sum, { equal = [] }) => sum + 1 + equal.length, 0)
  const lane = { name: 'Comparisons that show it', tone: state, counts: new Map(steps) }
  return (
    <>
      <p class="lead">
        <StateChip of={state} /> {KINDS[kind]} {STATES[state].meaning}
      </p>
      {ADVICE[state] !== undefined && <p>{ADVICE[state]}</p>}
      {declared && (
        <blockquote>
          <p>
            <code>{declared.code}</code> {declared.seen}
          </p>
          <p class="quiet">{declared.because}</p>
        </blockquote>
      )}
      <p>
        {many(comparisons, 'comparison')} of {many(callers, 'caller')} showed {many(findings, 'finding')}
        {kept < comparisons && `; ${count(kept)} of them are kept as examples`}.
      </p>
      {examples.length > 0 && <Examples examples={examples} kind={kind} isMismatch={state === 'unexplained'} />}
      {isDeclarable(difference) && (
        <section class="next" aria-labelledby="declare">
          <h2 id="declare">If clients can live with it</h2>
          <PasteList texts={declare(operation, difference, report.generatedAt)} />
        </section>
      )}
      <Lanes caption="When" lanes={[lane]} report={report} notes={notesOf(report, operation)} />
    </>
  )
}

/** What the outcome means for those who look for the cause. */
const ADVICE: Partial<Readonly<Record<Difference['state'], string>>> = {
  transient: 'Look for caches and replicas that lag behind, and for answers that v2 gives only under load.',
  declared: 'The difference is known, so these answers count as expected, and nothing has to be fixed:',
  race: 'Data changed while both sides were asked. If it continues while no data changes, look at the order in which v2 reads.',
}

function Examples({ examples, ...shown }: Omit<ExampleProps, 'example'> & { readonly examples: readonly ExampleReport[] }) {
  // A newer report may have further examples before the chosen one.
  const [chosen, choose] = useState(examples[0]?.id)
  const has = ({ id, equal = [] }: ExampleReport) => id === chosen || equal.some((one) => one.id === chosen)
  const selected = Math.max(0, examples.findIndex(has))
  const example = examples[selected]
  return (
    <section class="examples" aria-labelledby="examples">
      <h2 id="examples">
        Examples <span class="quiet">newest first</span>
      </h2>
      <VirtualList
        items={examples}
        label={`${many(examples.length, 'example')}, newest first`}
        selected={selected}
        onSelect={(index) => choose(examples[index]?.id)}
        most={4}
        row={(one) => <ExampleRow example={one} />}
      />
      <section aria-label="The chosen example">{example && <ExampleView example={example} {...shown} />}</section>
    </section>
  )
}
