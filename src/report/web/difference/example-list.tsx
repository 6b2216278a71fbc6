import type { ExampleReport } from '../../difference.ts'
import { count, many, time } from '../format.ts'
import { VirtualList } from '../views/virtual-list.tsx'

interface Props {
  readonly examples: readonly ExampleReport[]
  readonly selected: number
  readonly onSelect: (index: number) => void
}

/** The list of a difference's examples. Equal ones of one caller are one row. */
export function ExampleList({ examples, selected, onSelect }: Props) {
  return (
    <VirtualList
      items={examples}
      label={`${many(examples.length, 'example')}, newest first`}
      selected={selected}
      onSelect={onSelect}
      rem={3.25}
      most={4}
      row={(example) => (
        <>
          <span>
            {example.equal && <b>{count(1 + example.equal.length)} × </b>}
            {whenOf(example)} by <code>{(example.subject ?? example.caller).slice(0, 20)}</code>
          </span>
          <span class="quiet below">
            {placeOf(example)} {valuesOf(example)}
          </span>
        </>
      )}
    />
  )
}

/** `2026-03-01 13:55–14:10`, or one time. */
export function whenOf({ at, equal }: ExampleReport): string {
  const first = equal?.at(-1)?.at
  const [last, from] = [time(at), first === undefined ? '' : time(first)]
  if (first === undefined || from === last) return last
  return from.slice(0, 10) === last.slice(0, 10)
    ? `${from.slice(0, 16)}–${last.slice(11, 16)}`
    : `${from.slice(0, 16)} – ${last.slice(0, 16)}`
}

function placeOf({ pointer, v1Side, v2Side }: ExampleReport): string {
  return pointer || ['HTTP', v1Side && `${v1Side.status} and`, v2Side.status].filter(Boolean).join(' ')
}

function valuesOf(example: ExampleReport): string {
  const [v1, v2] = [plainOf(example, 'v1'), plainOf(example, 'v2')]
  if (v1 !== '' || v2 !== '') return `${v1 || '–'} → ${v2 || '–'}`
  return example.row === undefined ? '' : `row ${example.row}`
}

/** A scalar as text; nothing for what would not fit. */
function plainOf(example: ExampleReport, side: 'v1' | 'v2'): string {
  const value = example[side]
  return value === undefined || (typeof value === 'object' && value !== null) ? '' : JSON.stringify(value)
}
