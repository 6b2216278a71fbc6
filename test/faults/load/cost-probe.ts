/** Preloaded into the proxy: on SIGUSR2 it reports the processor time and the longest turn of the event loop since the last report. */
import { monitorEventLoopDelay } from 'node:perf_hooks'

const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()
let spent = process.cpuUsage()

process.on('SIGUSR2', () => {
  const { user, system } = process.cpuUsage(spent)
  const told = { cpuMs: (user + system) / 1000, stallMs: delay.max / 1e6 }
  process.stdout.write(`cost ${JSON.stringify(told)}\n`)
  delay.reset()
  spent = process.cpuUsage()
})
