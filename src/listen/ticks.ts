import { executionAsyncResource } from 'node:async_hooks'

/** The kept objects; one is enough for the process. */
export const keptTicks: object[] = []

/**
 * Keeps one of the objects that Node makes for every `process.nextTick`, about ten for a request. V8 forgets the shape of objects if a
 * collection finds none alive. Ordinary code learns a shape anew. These objects come from a literal with computed names (Node's
 * lib/internal/process/task_queues.js), which then uses V8's slow runtime for the rest of the process's life. Without this, every other
 * start of the proxy needed 10 to 15 % more CPU time a request, permanently.
 */
export function keepTickShape(): void {
  if (keptTicks.length === 0) process.nextTick(() => keptTicks.push(executionAsyncResource()))
}
