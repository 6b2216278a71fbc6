import { setTimeout as delay } from 'node:timers/promises'
import { type Child, metric, type Start, serve } from '../process/child.ts'
import { type ScriptedUpstream, startScripted } from './upstream/server.ts'

/** The proxy as a process of its own, in front of an upstream with scripted answers. */
export interface Victim {
  readonly upstream: ScriptedUpstream
  /** Returns its current address, which changes with each `revive`. */
  url(): string
  /** Returns the cause of its death, as far as known: its fatal log line, or that it is gone. */
  death(): string | undefined
  /** The same, after asking the process. */
  autopsy(): Promise<string | undefined>
  /** Restarts it if it is dead. */
  revive(): Promise<void>
  restart(): Promise<void>
  /** Returns what finished requests have left behind; undefined if nothing. */
  leftovers(): Promise<string | undefined>
  stop(): Promise<void>
}

/** Small limits, except where resources must be released without one. */
const LIMITS = {
  'log-level': 'fatal',
  'shutdown-ms': 1000,
  'fallbacks-per-minute': 0,
  connections: 32,
  'call-timeout-ms': 2000,
  'deadline-ms': 3000,
  'idle-timeout-ms': 60_000,
  'headers-timeout-ms': 2000,
}

/** The log line of an uncaught exception; the process drains then. */
const FATAL = /"level":60/

/** Milliseconds until the resources of finished requests must be released. */
const PATIENCE = 5000

export interface VictimSettings {
  /** Rules for a v1 service, which the same upstream plays; without them there is none. */
  readonly modes?: unknown
  /** Limits that differ from the usual ones. */
  readonly limits?: Readonly<Record<string, number>>
  /** Gets the head of every HTTP/1.1 request from the proxy. */
  readonly seen?: (head: string) => void
}

export async function startVictim({ modes, limits, seen }: VictimSettings, start: Start): Promise<Victim> {
  const upstream = await startScripted(seen)
  const v1 = modes === undefined ? {} : { 'upstream-v1': upstream.url, mode: JSON.stringify(modes) }
  const begin = () => serve({ 'upstream-v2': upstream.url, ...v1, ...LIMITS, ...limits }, start)
  let child: Child = await begin()
  let fatal: string | undefined
  const watch = (one: Child) => {
    fatal = undefined
    const told = (line: string) => {
      if (one === child) fatal = line
    }
    one.line(FATAL).then(told, (gone: Error) => told(gone.message))
  }
  watch(child)
  const autopsy = async () => {
    // Who does not listen any more is dying: its end, or its last line, says of what.
    if (fatal === undefined) await fetch(`${child.adminUrl}/healthz`).catch(() => Promise.race([child.ended, delay(PATIENCE)]))
    return fatal
  }
  const restart = async () => {
    await child.stop('SIGKILL')
    upstream.cut()
    child = await begin()
    watch(child)
  }
  return {
    upstream,
    url: () => child.url,
    death: () => fatal,
    autopsy,
    async revive() {
      if ((await autopsy()) !== undefined) await restart()
    },
    restart,
    async leftovers() {
      const late = performance.now() + PATIENCE
      for (;;) {
        const inFlight = await metric(child, 'crosswalk_requests_in_flight')
        const connections = upstream.endIdle()
        if (inFlight === 0 && connections === 0) return undefined
        if (performance.now() > late) return `after ${PATIENCE} ms: ${inFlight} in flight, ${connections} connections to the upstream`
        await delay(20)
      }
    },
    async stop() {
      await child.stop('SIGTERM')
      await upstream.close()
    },
  }
}
