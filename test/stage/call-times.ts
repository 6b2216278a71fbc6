import type { CallTimes } from '../../src/grpc/wire/call.ts'
import { Firing } from '../../src/serve/signals.ts'

/** The times of a call whose client waits as long as its work goes on. */
export function callTimes(signal: Firing = new Firing()): CallTimes {
  return Object.assign(signal, { client: () => signal })
}
