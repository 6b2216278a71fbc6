import { type Child, rssMiB } from './child.ts'

/** Samples the memory of a process every 10 ms. The returned function gives its largest growth over `idle` in MiB. */
export function watchMemory({ pid }: Child, idle: number): () => number {
  let peak = idle
  const timer = setInterval(() => {
    peak = Math.max(peak, rssMiB(pid))
  }, 10)
  return () => {
    clearInterval(timer)
    return Math.max(peak, rssMiB(pid)) - idle
  }
}
