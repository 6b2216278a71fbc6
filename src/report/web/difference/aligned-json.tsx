import type { ComponentChildren } from 'preact'
import type { AlignedLine } from './aligned.ts'
import { differingSpan } from './differing-span.ts'
import type { Cell } from './json-cells.ts'

interface Props {
  readonly lines: readonly AlignedLine[]
  /** Describes the table for screen readers. */
  readonly caption: string
  readonly v1: ComponentChildren
  readonly v2: ComponentChildren
}

/** Shows JSON of both sides line by line. A narrow window shows equal lines once, and lines that differ below each other. */
export function AlignedJson({ lines, caption, v1, v2 }: Props) {
  return (
    <table class="aligned">
      <caption class="visually-hidden">{caption}</caption>
      <thead>
        <tr>
          <th scope="col">{v1}</th>
          <th scope="col">{v2}</th>
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

const SIGNS = { v1: { same: '', place: '−', other: '~' }, v2: { same: '', place: '+', other: '~' } } as const

const SPOKEN = { same: '', place: 'differs: ', other: 'differs too: ' } as const

interface LineCellProps {
  readonly side: 'v1' | 'v2'
  readonly own: Cell | undefined
  readonly other: Cell | undefined
}

function LineCell({ side, own, other }: LineCellProps) {
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
