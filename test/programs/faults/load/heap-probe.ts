/** Preloaded into the proxy with --expose-gc: on SIGUSR2 it reports the bytes that the heap holds after a collection. */
process.on('SIGUSR2', () => {
  void globalThis.gc?.()
  // What waits for the end of a turn is gone at the next one.
  setTimeout(() => {
    void globalThis.gc?.()
    process.stdout.write(`heap ${process.memoryUsage().heapUsed}\n`)
  }, 2000)
})
