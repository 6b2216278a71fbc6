/** nock 15 calls Promise.withResolvers, which Node 20 does not have. */
const promise = Promise as unknown as { withResolvers?: () => unknown }
promise.withResolvers ??= () => {
  const parts: Record<string, unknown> = {}
  parts.promise = new Promise((resolve, reject) => Object.assign(parts, { resolve, reject }))
  return parts
}
