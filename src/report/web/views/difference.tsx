import { useState } from 'preact/hooks'
import type { Difference, ExampleReport } from '../../difference.ts'
import type { OperationReport, Report } from '../../report.ts'
import { Lanes } from '../charts/lanes.tsx'
import { notesOf } from '../charts/markers.tsx'
import { count, many, time } from '../format.ts'
import { StateChip } from '../verdict.tsx'
import { KINDS, STATES } from '../words.ts'
import { SideBySide } from './side-by-side.tsx'
import { VirtualList } from './virtual-list.tsx'

interface Props {
  readonly difference: Difference
  readonly operation: OperationReport
  readonly report: Report
}

/** Shows one difference: its place and kind, when it occurred, and its examples side by side. */
export function DifferenceView({ difference, operation, report }: Props) {
  const { state, kind, code, comparisons, findings, callers, examples, steps } = difference
  const declared = report.declarations.find((one) => one.code === code)
  const lane = { name: 'Comparisons that show it', tone: state, counts: new Map(steps) }
  return (
    <>
      <p class="lead">
        <StateChip of={state} /> {KINDS[kind]} {STATES[state].meaning}
      </p>
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
        {examples.length < comparisons && `; ${count(examples.length)} of them are kept as examples`}.
      </p>
      {examples.length > 0 && <Examples examples={examples} isMismatch={state === 'unexplained'} />}
      <Lanes caption="When" lanes={[lane]} report={report} notes={notesOf(report, operation.operation)} />
    </>
  )
}

function Examples({ examples, isMismatch }: { readonly examples: readonly ExampleReport[]; readonly isMismatch: boolean }) {
  const [selected, select] = useState(0)
  const example = examples[selected]
  return (
    <section class="split" aria-labelledby="examples">
      <div>
        <h2 id="examples">
          Examples <span class="quiet">newest first</span>
        </h2>
        <VirtualList
          items={examples}
          label={`${many(examples.length, 'example')}, newest first`}
          selected={selected}
          onSelect={select}
          rem={3.25}
          row={({ at, caller, subject, pointer, v1Side, v2Side }) => (
            <>
              <span>
                {time(at)} <code>{(subject ?? caller).slice(0, 20)}</code>
              </span>
              <span class="quiet below">
                {pointer || ['HTTP', v1Side && `${v1Side.status} and`, v2Side.status].filter(Boolean).join(' ')}
              </span>
            </>
          )}
        />
      </div>
      <section aria-label="The chosen example" aria-live="polite">
        {example && <SideBySide example={example} isMismatch={isMismatch} />}
      </section>
    </section>
  )
}
