#!/usr/bin/env node
import { text } from 'node:stream/consumers'
import { keepCompiled } from './app/cli/compile-cache.ts'

keepCompiled(process.env)
// Node keeps only what is loaded from now on.
const { run } = await import('./app/cli/run.ts')

/** Resolves on the first signal to stop. A second signal stops the process at once. */
function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
  })
}

/** Resolves with the first uncaught exception. Later ones, while the process ends, are ignored. */
function untilEscaped(): Promise<unknown> {
  return new Promise((resolve) => {
    process.on('uncaughtException', (thrown: unknown) => resolve(thrown ?? new Error(`${thrown} was thrown`)))
  })
}

/** A reader that has seen enough (`| head`) closes the pipe. That is not a failure, but the exit code is still the command's own. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') throw error
})

/** Progress on standard error. Its timer does not keep the process alive. */
const screen = {
  write: (text: string) => void process.stderr.write(text),
  now: () => performance.now(),
  every(ms: number, look: () => void) {
    const timer = setInterval(look, ms).unref()
    return () => clearInterval(timer)
  },
}

process.exitCode = await run(process.argv.slice(2), {
  out: (line) => process.stdout.write(`${line}\n`),
  err: (line) => process.stderr.write(`${line}\n`),
  env: process.env,
  isTerminal: process.stdout.isTTY === true,
  screen: process.stderr.isTTY ? screen : undefined,
  stdin: () => text(process.stdin),
  input: process.stdin,
  untilStopped,
  untilEscaped,
  onHangup: (listener) => void process.on('SIGHUP', listener),
})
