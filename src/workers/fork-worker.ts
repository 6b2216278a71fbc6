import cluster, { type Worker } from 'node:cluster'
import { fileURLToPath } from 'node:url'
import { createLine, type Line } from './line.ts'
import { errorOf, type StartFailure, TOPICS } from './worker-orders.ts'
import type { WorkerEnd, WorkerProcess } from './worker-process.ts'

/** A worker that runs as a process of its own. */
export interface ForkedWorker extends WorkerProcess {
  readonly line: Line
  /** The address that it listens at; empty before. */
  url(): string
}

/** The program of a worker lies beside this file, as source or as built. */
const PROGRAM = fileURLToPath(import.meta.url).replace(/fork-worker(\.\w+)$/, 'worker-main$1')

/** A message that comes too late is no error: the end of the process is told by its exit. */
const IGNORED = () => {}

/** Starts the process of a worker. Flags may hold tokens, so that it gets none: it asks for its orders. */
export function forkWorker(place: number): ForkedWorker {
  cluster.setupPrimary({ exec: PROGRAM, args: [], serialization: 'advanced' })
  const worker = cluster.fork()
  const line = createLine({
    send: (message) => worker.process.send?.(message as object, IGNORED),
    on: (event, listener) => worker.on(event, listener),
  })
  const ended = endOf(worker)
  let url = ''
  const listens = new Promise<void>((resolve, reject) => {
    line.on(TOPICS.listens, (at) => {
      url = at as string
      resolve()
    })
    line.on(TOPICS.failed, (failure) => reject(errorOf(failure as StartFailure)))
    void ended.then((end) => reject(new Error(`worker ${place} ended with ${end}`)))
  })
  listens.catch(() => {})
  const left = new Promise<WorkerEnd>((resolve) => {
    line.on(TOPICS.leaves, () => resolve('an uncaught exception'))
    void ended.then(resolve)
  })
  void ended.then(line.end)
  return {
    ...{ place, line, listens, left, ended },
    url: () => url,
    // A worker that is still starting hears nothing yet.
    leave: (isReplaced) =>
      void listens.then(
        () => line.tell(TOPICS.leave, isReplaced),
        () => {},
      ),
    kill: () => void worker.process.kill('SIGKILL'),
  }
}

function endOf(worker: Worker): Promise<WorkerEnd> {
  return new Promise((resolve) => {
    worker.once('exit', (code, signal) => resolve(signal ? `signal ${signal}` : `exit code ${code}`))
    worker.on('error', (error) => resolve(error.message))
  })
}
