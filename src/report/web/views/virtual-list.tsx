import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'

interface Props<T> {
  readonly items: readonly T[]
  readonly label: string
  readonly selected: number
  readonly onSelect: (index: number) => void
  readonly row: (item: T, index: number) => ComponentChildren
  /** Height of one row in rem. */
  readonly rem: number
  /** Rows that are visible at once. Default: 9. */
  readonly most?: number
}

/** Rows beyond the visible ones that are drawn, so that scrolling shows no gaps. */
const SPARE = 6

/** Rows that a page key moves. */
const PAGE = 8

/**
 * A list of any length that draws only its visible rows. It is a listbox: the arrow keys, Home, End and the page keys move the selection.
 */
export function VirtualList<T>({ items, label, selected, onSelect, row, rem, most = 9 }: Props<T>) {
  const id = useId()
  const box = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  const [height, setHeight] = useState(480)
  const px = rem * rootFontSize()
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
              {row(item, index)}
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

function rootFontSize(): number {
  return Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 16
}
