import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

interface Props {
  readonly label: string
  readonly children: ComponentChildren
}

/** The frame of a table. If the table is wider than the frame, the frame takes the focus, so that the arrow keys scroll it. */
export function ScrollTable({ label, children }: Props) {
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
      {children}
    </section>
  )
}
