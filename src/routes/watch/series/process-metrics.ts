import { readdirSync, readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { performance } from 'node:perf_hooks'
import { type Aggregator, Counter, Gauge, type Registry } from 'prom-client'

/**
 * Exposes the state of the process. It is read on demand only and costs nothing otherwise. Of several workers, the worst value counts:
 * each has files and an event loop of its own.
 */
export function watchProcess(registers: Registry[]): void {
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'Processor time used',
    registers,
    collect() {
      const { user, system } = process.cpuUsage()
      this.reset()
      this.inc((user + system) / 1e6)
    },
  })
  gauge('process_resident_memory_bytes', 'Memory that the process holds', () => process.memoryUsage.rss(), 'sum')
  gauge('crosswalk_memory_limit_bytes', 'Memory that the process may hold: the limit of its container, or that of the machine', memoryLimit)
  gauge('process_start_time_seconds', 'When the process started, in seconds since 1970', () => performance.timeOrigin / 1000, 'first')
  gauge('process_open_fds', 'Open files and sockets', () => readdirSync('/proc/self/fd').length)
  gauge('process_max_fds', 'Files and sockets that may be open', maxFiles)
  gauge('crosswalk_event_loop_utilization', 'Share of time that the event loop was busy since it was last asked, 0 to 1', busySince())

  function gauge(name: string, help: string, read: () => number, aggregator: Aggregator = 'max'): void {
    new Gauge({
      name,
      help,
      registers,
      aggregator,
      collect() {
        this.set(orUnknown(read))
      },
    })
  }
}

function busySince(): () => number {
  let before = performance.eventLoopUtilization()
  return () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    return utilization
  }
}

function memoryLimit(): number {
  const container = process.constrainedMemory()
  return container > 0 ? Math.min(container, totalmem()) : totalmem()
}

function maxFiles(): number {
  return Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1])
}

/** `/proc` exists on Linux only, and is unreadable when the process can open no more files. */
function orUnknown(read: () => number): number {
  try {
    return read()
  } catch {
    return Number.NaN
  }
}
