import { monitorEventLoopDelay } from 'node:perf_hooks'

/** Preloaded into the proxy (`node --import`). Answers each message with the longest stall of the event loop since the last one. */
const RESOLUTION = 1
const delay = monitorEventLoopDelay({ resolution: RESOLUTION })
delay.enable()
process.on('message', () => {
  const stall = Math.max(0, delay.max / 1e6 - RESOLUTION)
  delay.reset()
  process.send?.(stall)
})
process.channel?.unref()
