import { executionAsyncResource } from 'node:async_hooks'

/** What is kept; one is enough for the process. */
export const keptTicks: object[] = []

/**
 * Keeps one of the objects that Node makes for every `process.nextTick`, of which a request takes about ten. V8 forgets the shape of objects
 * of which a collection finds none alive. Other code learns a shape anew; the literal with computed names that makes these objects (Node's
 * lib/internal/process/task_queues.js) then goes through V8's runtime for as long as the process lives. Without this every other start
 * of the proxy needed 10 to 15 % more CPU time a request, for ever.
 */
export function keepTickShape(): void {
  if (keptTicks.length === 0) process.nextTick(() => keptTicks.push(executionAsyncResource()))
}
