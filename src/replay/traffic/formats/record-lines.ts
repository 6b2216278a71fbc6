import { isObject } from '../../../tables/json.ts'
import type { Counted } from '../recorded-traffic.ts'
import type { ReadLine } from './line-parts.ts'

/**
 * Reads the requests behind one line that Crosswalk wrote: a record, or a line of its log.
 * A sum of traffic includes requests that are recorded as comparisons and unsent writes too. Those have `times` 0 and only add their
 * shapes.
 * A line about no request has none; a line that Crosswalk did not write is not read.
 */
export const readRecordLine: ReadLine = (line) => {
  const value = parsed(line)
  if (!value) return undefined
  if (value.kind === 'note') return []
  if (typeof value.operation !== 'string') return isOwnLine(value) ? [] : undefined
  const times = timesOf(value)
  if (times === undefined) return undefined
  const at = typeof value.time === 'number' ? value.time : Date.parse(String(value.at))
  const counted: Counted = {
    operation: value.operation,
    times,
    ...(typeof value.shape === 'string' && { shape: value.shape }),
    ...(Array.isArray(value.requests) && { requests: value.requests }),
    ...(typeof value.caller === 'string' && { client: value.caller }),
    ...(!Number.isNaN(at) && { at }),
  }
  return [counted]
}

/** The log of Crosswalk names neither its process nor a request object, as logs of other programs with the same logger do. */
function isOwnLine(value: Readonly<Record<string, unknown>>): boolean {
  return typeof value.msg === 'string' && !('pid' in value) && !('req' in value)
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
