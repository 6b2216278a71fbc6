import { type ComponentChildren, Fragment } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { Standing } from '../../migrate/evidence/cutover.ts'
import { count } from '../../migrate/evidence/evidence.ts'
import type { DifferenceState } from '../report/difference.ts'
import type { PasteText } from '../report/next-step.ts'
import type { OperationReport } from '../report/report.ts'
import { STANDINGS, STATES } from './words.ts'

/** The name and the logo. */
export function Brand() {
  return (
    <p class="brand">
      {/* Two paths that become one. */}
      <svg viewBox="0 0 24 24" width="24" height="24" aria-hidden="true">
        <path d="M3 6H9C13 6 12 18 16 18H21M3 18H8M16 6H21" />
      </svg>{' '}
      Crosswalk <span>report</span>
    </p>
  )
}

/** The views beside those of one operation, in the order of the navigation. */
export const PLAIN_VIEWS = ['operations', 'clients', 'timeline', 'declared'] as const

/** The view that the reader has open. It is the part of the address after `#`, so that links and the back button work. */
export type Route =
  | { readonly view: (typeof PLAIN_VIEWS)[number] }
  | { readonly view: 'operation'; readonly operation: string; readonly difference?: string }

export function parseRoute(hash: string): Route {
  const [view, operation, difference] = hash.replace(/^#\/?/, '').split('/').map(decoded)
  if (view === 'operation' && operation) return { view, operation, ...(difference && { difference }) }
  return { view: PLAIN_VIEWS.find((one) => one === view) ?? 'operations' }
}

export function hashOf(route: Route): string {
  if (route.view !== 'operation') return `#/${route.view}`
  const { view, operation, difference } = route
  const place = `#/${view}/${encodeURIComponent(operation)}`
  return difference === undefined ? place : `${place}/${encodeURIComponent(difference)}`
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

const SHAPES: Readonly<Record<string, string>> = {
  inside: 'M3.5 8.5 6.5 11.5 12.5 4.5',
  outside: 'M4.5 4.5 11.5 11.5M11.5 4.5 4.5 11.5',
  'held-back': 'M6 4.5V11.5M10 4.5V11.5',
  inconclusive: 'M4 8h.01M8 8h.01M12 8h.01',
  'v1-only': 'M5.5 5.5 8.5 3.5V12.5M5.5 12.5H11.5',
  unverifiable: 'M4 8H12',
  unexplained: 'M4.5 4.5 11.5 11.5M11.5 4.5 4.5 11.5',
  failed: 'M8 3.5V9M8 12.3v.01',
  transient: 'M4.5 4.5 7 7M9 9 11.5 11.5M11.5 4.5 9 7M7 9 4.5 11.5',
  open: 'M4 8h.01M8 8h.01M12 8h.01',
  race: 'M3.5 6H12.5M9.5 3.5 12.5 6M12.5 10.5H3.5M6.5 13 3.5 10.5',
  noise: 'M2.5 8 5 4.5 8 11.5 11 4.5 13.5 8',
  declared: 'M4 4.5H12M4 8H12M4 11.5H9',
  circuit: 'M2 10.5H5.5L11 5.5M10.5 10.5H14',
}

/** Shows a verdict as an icon and a word, so that neither colour nor shape is needed to read it. */
export function StandingChip({ of }: { readonly of: Standing }) {
  return <Chip name={of} {...STANDINGS[of]} />
}

export function StateChip({ of }: { readonly of: DifferenceState }) {
  return <Chip name={of} {...STATES[of]} />
}

export function Chip({ name, word, meaning }: { readonly name: string; readonly word: string; readonly meaning: string }) {
  return (
    <span class={`chip is-${name}`} title={meaning}>
      <Icon name={name} />
      {word}
    </span>
  )
}

export function Icon({ name }: { readonly name: string }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={SHAPES[name]} />
    </svg>
  )
}

type Said = 'Copy' | 'Copied' | 'Not copied'

/** Time after which the button may be read as new. */
const SAID_MS = 2_500

/** Copies a text to the clipboard, and says so, also to screen readers. `what` names the text after "Copy": `the v1 URL`. */
export function CopyButton({ text, what }: { readonly text: string; readonly what: string }) {
  const [said, say] = useState<Said>('Copy')
  useEffect(() => {
    if (said === 'Copy') return
    const timer = setTimeout(() => say('Copy'), SAID_MS)
    return () => clearTimeout(timer)
  }, [said])
  return (
    <span class="copy">
      <button type="button" class={`copy-button ${said === 'Copied' ? 'is-copied' : ''}`} onClick={() => void copied(text).then(say)}>
        <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
          <path d={said === 'Copied' ? DONE : SHEETS} />
        </svg>
        {said}
        <span class="visually-hidden"> {what}</span>
      </button>
      <span role="status" class="visually-hidden">
        {said === 'Copy' ? '' : `${said}: ${what}`}
      </span>
    </span>
  )
}

const SHEETS = 'M6 5.5H12.5V13.5H6ZM9.5 5.5V2.5H3.5V10.5H6'
const DONE = 'M3.5 8.5 6.5 11.5 12.5 4.5'

async function copied(text: string): Promise<Said> {
  try {
    await navigator.clipboard.writeText(text)
    return 'Copied'
  } catch {
    return copiedBySelection(text) ? 'Copied' : 'Not copied'
  }
}

/** Browsers have no clipboard on a page from another machine without TLS, but copy what is selected. */
function copiedBySelection(text: string): boolean {
  const focused = document.activeElement
  const field = document.createElement('textarea')
  field.value = text
  field.className = 'visually-hidden'
  document.body.append(field)
  field.select()
  const isCopied = document.execCommand('copy')
  field.remove()
  if (focused instanceof HTMLElement) focused.focus()
  return isCopied
}

/** Shows a name that may break after its dots and slashes, and nowhere else. */
export function Dotted({ name }: { readonly name: string }) {
  return (
    <span class="dotted">
      {name.split(/(?<=[./])/).map((part, at) => (
        <Fragment key={at}>
          {at > 0 && <wbr />}
          {part}
        </Fragment>
      ))}
    </span>
  )
}

/**
 * Returns the operations in the order in which they were shown, so that no row moves while somebody reads it: the report sorts by calls,
 * which change all the time. The order of the report applies again when an operation is new, or its standing has changed.
 */
export function useHeldOrder(operations: readonly OperationReport[]): readonly OperationReport[] {
  const held = useRef<readonly string[]>([])
  const known = useRef('')
  const standings = operations.map(({ operation, standing }) => `${operation} ${standing}`).sort()
  if (known.current !== standings.join()) {
    known.current = standings.join()
    held.current = operations.map(({ operation }) => operation)
  }
  return held.current.flatMap((name) => operations.find(({ operation }) => operation === name) ?? [])
}

/** The head of a column: its text, or its text with what a cell of it has. */
type Column = string | { readonly head: ComponentChildren; readonly class?: string; readonly title?: string }

export const numbers = (head: string): Column => ({ head, class: 'number' })

/** A table in a frame. If the table is wider than the frame, the frame takes the focus, so that the arrow keys scroll it. */
export function Table({
  label,
  kind,
  columns,
  children,
}: {
  readonly label: string
  readonly kind?: string
  readonly columns: readonly Column[]
  readonly children: ComponentChildren
}) {
  const ref = useRef<HTMLElement>(null)
  const [isWide, setWide] = useState(false)
  useEffect(() => {
    const element = ref.current
    if (!element) return
    const observer = new ResizeObserver(() => setWide(element.scrollWidth > element.clientWidth + 1))
    observer.observe(element)
    for (const child of element.children) observer.observe(child)
    return () => observer.disconnect()
  }, [])
  return (
    <section ref={ref} class="table" aria-label={label} {...(isWide && { tabIndex: 0 })}>
      <table class={kind}>
        <thead>
          <tr>
            {columns.map((column, at) => {
              const { head, ...shown } = typeof column === 'string' ? { head: column } : column
              return (
                <th key={at} scope="col" {...shown}>
                  {head}
                </th>
              )
            })}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  )
}

/** A number in a table whose rows a narrow window shows as cards. */
export function NumberCell({ label, of }: { readonly label: string; readonly of: number }) {
  return (
    <td class="number" data-label={label}>
      {count(of)}
    </td>
  )
}

/** The name of an operation, which leads to its view. */
export function OperationLink({ operation }: { readonly operation: string }) {
  return (
    <a href={hashOf({ view: 'operation', operation })}>
      <Dotted name={operation} />
    </a>
  )
}

/** Sentences, each an item of a list. */
export function Items({ of, kind }: { readonly of: readonly string[]; readonly kind?: string }) {
  return (
    <ul class={kind}>
      {of.map((sentence) => (
        <li key={sentence}>{sentence}</li>
      ))}
    </ul>
  )
}

/** Rows beyond the visible ones that are drawn, so that scrolling shows no gaps. */
const SPARE = 6

/** Height of one row in rem. */
const ROW_REM = 3.25

/** Rows that a page key moves. */
const PAGE = 8

/**
 * A list of any length that draws only its visible rows, at most `most` at once. It is a listbox: the arrow keys, Home, End and the page
 * keys move the selection.
 */
export function VirtualList<T>({
  items,
  label,
  selected,
  onSelect,
  row,
  most = 9,
}: {
  readonly items: readonly T[]
  readonly label: string
  readonly selected: number
  readonly onSelect: (index: number) => void
  readonly row: (item: T) => ComponentChildren
  readonly most?: number
}) {
  const id = useId()
  const box = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  const [height, setHeight] = useState(480)
  const px = ROW_REM * (Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 16)
  useEffect(() => setHeight(box.current?.clientHeight || 480), [])
  useEffect(() => {
    const element = box.current
    if (!element || selected < 0) return
    if (selected * px < element.scrollTop) element.scrollTop = selected * px
    else if ((selected + 1) * px > element.scrollTop + element.clientHeight) element.scrollTop = (selected + 1) * px - element.clientHeight
  }, [selected, px])
  const first = Math.max(0, Math.floor(top / px) - SPARE)
  const shown = items.slice(first, Math.ceil((top + height) / px) + SPARE)
  const onKeyDown = (event: KeyboardEvent) => {
    const next = MOVES[event.key]?.(selected, items.length)
    if (next === undefined) return
    event.preventDefault()
    onSelect(Math.max(0, Math.min(items.length - 1, next)))
  }
  return (
    <div
      ref={box}
      class="virtual-list"
      style={{ height: `${Math.min(items.length, most) * px + 2}px` }}
      role="listbox"
      tabIndex={0}
      aria-label={label}
      aria-activedescendant={selected >= 0 ? `${id}-${selected}` : undefined}
      onKeyDown={onKeyDown}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
    >
      <div class="spacer" role="presentation" style={{ height: `${items.length * px}px` }}>
        {shown.map((item, nth) => {
          const index = first + nth
          return (
            // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/useFocusableInteractive: the listbox itself has the focus and the keys
            <div
              key={index}
              id={`${id}-${index}`}
              class="row"
              role="option"
              aria-selected={index === selected}
              aria-setsize={items.length}
              aria-posinset={index + 1}
              style={{ top: `${index * px}px`, height: `${px}px` }}
              onClick={() => onSelect(index)}
            >
              {row(item)}
            </div>
          )
        })}
      </div>
    </div>
  )
}

const MOVES: Readonly<Record<string, (at: number, length: number) => number>> = {
  ArrowDown: (at) => at + 1,
  ArrowUp: (at) => at - 1,
  PageDown: (at) => at + PAGE,
  PageUp: (at) => at - PAGE,
  Home: () => 0,
  End: (_, length) => length - 1,
}

/** Texts to paste, each behind its title. */
export function PasteList({ texts }: { readonly texts: readonly PasteText[] }) {
  return texts.map((one) => (
    <details key={one.title}>
      <summary>{one.title}</summary>
      <Paste name={one.title} text={one.text} />
    </details>
  ))
}

/** One text to paste, with a button that copies it. `name` says what it is for. */
export function Paste({ name, text }: { readonly name: string; readonly text: string }) {
  return (
    <div class="paste">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long line scrolls, and the keyboard must reach it */}
      <section class="paste-text" tabIndex={0} aria-label={name}>
        <pre>
          <code>{text}</code>
        </pre>
      </section>
      <CopyButton text={text} what={`the text: ${name}`} />
    </div>
  )
}
