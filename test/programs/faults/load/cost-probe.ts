/**
 * Preloaded into the proxy: on SIGUSR2 it reports the processor time since the last report, and the most of it in one turn of the event loop.
 * Time on the clock would also count the turns of other programs.
 */
let spent = process.cpuUsage()
let before = spent
let longest = 0

const msOf = ({ user, system }: NodeJS.CpuUsage) => (user + system) / 1000

/** A timer of a millisecond is called once in each turn that is longer. */
setInterval(() => {
  longest = Math.max(longest, msOf(process.cpuUsage(before)))
  before = process.cpuUsage()
}, 1).unref()

process.on('SIGUSR2', () => {
  const told = { cpuMs: msOf(process.cpuUsage(spent)), stallMs: longest }
  process.stdout.write(`cost ${JSON.stringify(told)}\n`)
  longest = 0
  before = process.cpuUsage()
  spent = before
})
