import { useState } from 'preact/hooks'

/** The position of a reader in a chart: a step chosen with the pointer or with the arrow keys. */
export function useCursor(length: number) {
  const [at, setAt] = useState<number | undefined>(undefined)
  const held = at === undefined ? undefined : Math.min(at, length - 1)
  return {
    at: held,
    set: setAt,
    onKeyDown(event: KeyboardEvent) {
      const next = MOVES[event.key]?.(held, length)
      if (event.key === 'Escape') setAt(undefined)
      if (next === undefined || length === 0) return
      event.preventDefault()
      setAt(Math.min(length - 1, Math.max(0, next)))
    },
  }
}

const MOVES: Readonly<Record<string, (at: number | undefined, length: number) => number>> = {
  ArrowLeft: (at, length) => (at ?? length) - 1,
  ArrowRight: (at) => (at ?? -1) + 1,
  PageUp: (at, length) => (at ?? length) - 10,
  PageDown: (at) => (at ?? -1) + 10,
  Home: () => 0,
  End: (_, length) => length - 1,
}
