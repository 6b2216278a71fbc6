import { type Child, rssMiB } from './child.ts'

/** Watches the memory of a process, every 10 ms; the function returned tells by how many MiB it grew at most over `idle`. */
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
