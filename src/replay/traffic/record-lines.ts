import { isObject } from '../../tables/json.ts'
import type { Counted } from './recorded-traffic.ts'

/**
 * Reads the requests behind one line that Crosswalk wrote: a record, or a line of its log.
 * A sum of traffic includes requests that are recorded as comparisons and unsent writes too. Those have `times` 0 and only add their
 * shapes.
 * Returns `nothing` for a line about no request, and undefined for a line that Crosswalk did not write.
 */
export function readRecordLine(line: string): Counted | 'nothing' | undefined {
  const value = parsed(line)
  if (!value) return undefined
  if (value.kind === 'note') return 'nothing'
  if (typeof value.operation !== 'string') return typeof value.msg === 'string' ? 'nothing' : undefined
  const times = timesOf(value)
  if (times === undefined) return undefined
  const at = typeof value.time === 'number' ? value.time : Date.parse(String(value.at))
  return {
    operation: value.operation,
    times,
    ...(typeof value.shape === 'string' && { shape: value.shape }),
    ...(Array.isArray(value.requests) && { requests: value.requests }),
    ...(typeof value.caller === 'string' && { client: value.caller }),
    ...(!Number.isNaN(at) && { at }),
  }
}

function timesOf({ kind, calls, reqId }: Readonly<Record<string, unknown>>): number | undefined {
  if (kind === 'traffic' && typeof calls === 'number') return calls
  if (kind === 'comparison' || kind === 'would-send') return 0
  return kind === undefined && typeof reqId === 'string' ? 1 : undefined
}

function parsed(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
