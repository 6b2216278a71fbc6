import type { Registry } from 'prom-client'
import { createDurations } from './histogram.ts'

/** Seconds: from a call within one machine to a list that takes its whole deadline. */
const BUCKETS = [0.005, 0.02, 0.1, 0.5, 2, 10, 60]

/** Times requests and calls; `now` tells milliseconds since 1970. */
export function createClocks(registry: Registry, now: () => number) {
  return {
    duration: createDurations(registry, {
      name: 'crosswalk_request_duration_seconds',
      help: 'Time from the request to the last byte of its answer',
      label: 'operation',
      buckets: BUCKETS,
      now,
    }),
    callDuration: createDurations(registry, {
      name: 'crosswalk_v2_call_duration_seconds',
      help: 'Time from a v2 call to the last byte of its answer',
      label: 'outcome',
      buckets: BUCKETS,
      now,
    }),
  }
}
