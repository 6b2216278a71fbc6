import type { ComponentChildren } from 'preact'
import type { RecordedSide } from '../../../migrate/records/record.ts'
import type { Difference, ExampleReport } from '../../difference.ts'
import { CopyButton } from '../copy-button.tsx'
import { milliseconds } from '../format.ts'
import { type AlignedLine, alignedLines, sidesOf, wholes } from './aligned.ts'
import { AlignedJson } from './aligned-json.tsx'
import { alignedRows } from './aligned-rows.ts'
import { EqualExamples } from './equal-examples.tsx'
import { ExampleFacts } from './example-facts.tsx'
import type { LineMark } from './json-cells.ts'
import { isMasked, said } from './said.ts'

interface Props {
  readonly example: ExampleReport
  readonly kind: Difference['kind']
  /** Only mismatches can be made into tests. */
  readonly isMismatch: boolean
}

/** Shows one example: what differs, the request, and the JSON around the place on both sides. */
export function ExampleView({ example, kind, isMismatch }: Props) {
  const { v1Side, v2Side } = example
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
        <AlignedJson
          lines={lines}
          caption={`${captionOf(example)} on both sides`}
          v1={v1Side && <SideHead name="v1" side={v1Side} example={example} />}
          v2={<SideHead name="v2" side={v2Side} example={example} />}
        />
      )}
      {lines.length > 0 && <Legend lines={lines} example={example} />}
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

interface SideHeadProps {
  readonly name: 'v1' | 'v2'
  readonly side: RecordedSide
  readonly example: ExampleReport
}

function SideHead({ name, side: { status, code, ms }, example }: SideHeadProps): ComponentChildren {
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
