/** Preloaded into the proxy: SIGUSR2 is an exception that nobody catches, once for each signal. */
process.on('SIGUSR2', () => {
  setImmediate(() => {
    throw new Error('escaped')
  })
})
