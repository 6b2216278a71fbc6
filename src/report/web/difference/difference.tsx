import { useState } from 'preact/hooks'
import type { Difference, ExampleReport } from '../../difference.ts'
import { declare } from '../../next-step/commands.ts'
import { isDeclarable } from '../../next-step/declare.ts'
import type { OperationReport, Report } from '../../report.ts'
import { Lanes } from '../charts/lanes.tsx'
import { notesOf } from '../charts/markers.tsx'
import { count, many } from '../format.ts'
import { StateChip } from '../verdict.tsx'
import { PasteList } from '../views/paste-text.tsx'
import { KINDS, STATES } from '../words.ts'
import { ExampleList } from './example-list.tsx'
import { ExampleView } from './example-view.tsx'

interface Props {
  readonly difference: Difference
  readonly operation: OperationReport
  readonly report: Report
}

/** Shows one difference: its place and kind, when it occurred, and its examples side by side. */
export function DifferenceView({ difference, operation, report }: Props) {
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
          <PasteList texts={declare(operation.operation, difference, report.generatedAt)} />
        </section>
      )}
      <Lanes caption="When" lanes={[lane]} report={report} notes={notesOf(report, operation.operation)} />
    </>
  )
}

/** What the outcome means for those who look for the cause. */
const ADVICE: Partial<Readonly<Record<Difference['state'], string>>> = {
  transient: 'Look for caches and replicas that lag behind, and for answers that v2 gives only under load.',
  declared: 'The difference is known, so these answers count as expected, and nothing has to be mended:',
  race: 'Data changed while both sides were asked. If it goes on without changes of data, look at the order in which v2 reads.',
}

interface ExamplesProps {
  readonly examples: readonly ExampleReport[]
  readonly kind: Difference['kind']
  readonly isMismatch: boolean
}

function Examples({ examples, kind, isMismatch }: ExamplesProps) {
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
      <ExampleList examples={examples} selected={selected} onSelect={(index) => choose(examples[index]?.id)} />
      <section aria-label="The chosen example">{example && <ExampleView example={example} kind={kind} isMismatch={isMismatch} />}</section>
    </section>
  )
}
