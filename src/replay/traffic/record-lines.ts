import { isObject } from '../../tables/json.ts'
import type { Counted } from './recorded-traffic.ts'

/**
 * The requests behind one line that Crosswalk wrote: a record, or a line of its log. A sum of traffic stands for requests that are
 * recorded as comparisons and unsent writes as well, so that those only tell which shapes an operation has: `times` is 0.
 * `nothing` for a line that tells of no request, undefined for one that is not ours.
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
