/** Preloaded into the proxy: each SIGUSR2 throws an uncaught exception. */
process.on('SIGUSR2', () => {
  setImmediate(() => {
    throw new Error('escaped')
  })
})
