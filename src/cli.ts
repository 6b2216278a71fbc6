#!/usr/bin/env node
import { keepCompiled } from './app/cli/compile-cache.ts'

keepCompiled(process.env)
// Node keeps only what is loaded from now on.
const { run } = await import('./app/cli/run.ts')

/** True for a command that serves until it is stopped. */
let isServing = false

const STOP = ['SIGTERM', 'SIGINT'] as const

/** Resolves on the first signal to stop. A second one, of either kind, stops the process at once: nobody listens any more. */
function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => {
      for (const signal of STOP) process.off(signal, stop)
      resolve()
    }
    for (const signal of STOP) process.on(signal, stop)
  })
}

/** Resolves with the first uncaught exception. Later ones, while the process ends, are ignored. */
function untilEscaped(): Promise<unknown> {
  return new Promise((resolve) => {
    process.on('uncaughtException', (thrown: unknown) => resolve(thrown ?? new Error(`${thrown} was thrown`)))
  })
}

/** Why the output of a command is not all there. Undefined while it is. */
let unwritten: Error | undefined

/** A reader that has seen enough (`| head`) closes the pipe. That is not a failure, but the exit code is still the command's own. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') unwritten ??= error
})
/** Nobody can be told. A full disk keeps no proxy from serving. */
process.stderr.on('error', () => {})

/** Progress on standard error. Its timer does not keep the process alive. */
const screen = {
  write: (text: string) => void process.stderr.write(text),
  now: () => performance.now(),
  every(ms: number, look: () => void) {
    const timer = setInterval(look, ms).unref()
    return () => clearInterval(timer)
  },
}

/** Bytes of standard input where a command takes all of it. */
const LARGEST_INPUT = 16 * 2 ** 20

const code = await run(process.argv.slice(2), {
  out: (line) => process.stdout.write(`${line}\n`),
  err: (line) => process.stderr.write(`${line}\n`),
  env: process.env,
  isTerminal: process.stdout.isTTY === true,
  screen: process.stderr.isTTY ? screen : undefined,
  stdin: async () => (await (await import('./files.ts')).allOf(process.stdin, LARGEST_INPUT)).toString(),
  input: process.stdin,
  untilStopped,
  untilEscaped,
  onStay: () => {
    isServing = true
  },
  onHangup: (listener) => void process.on('SIGHUP', listener),
})
/** The last lines reach the system before their failure is looked at. */
await new Promise((written) => void process.stdout.write('', written))
const isLost = unwritten !== undefined && !isServing
if (isLost) process.stderr.write(`Standard output cannot be written: ${unwritten?.message}.\n`)
process.exitCode = isLost ? Math.max(code, 1) : code
