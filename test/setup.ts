import { afterAll, onTestFinished } from 'vitest'
import { closeBy } from './stage/upstream.ts'

const ofFile: (() => Promise<void>)[] = []

closeBy((close) => {
  try {
    onTestFinished(close)
  } catch {
    // Outside of a test, which is in \`beforeAll\`.
    ofFile.unshift(close)
  }
})

afterAll(async () => {
  for (const close of ofFile) await close()
})

/** nock 15 calls Promise.withResolvers, which Node 20 does not have. */
const promise = Promise as unknown as { withResolvers?: () => unknown }
promise.withResolvers ??= () => {
  const parts: Record<string, unknown> = {}
  parts.promise = new Promise((resolve, reject) => Object.assign(parts, { resolve, reject }))
  return parts
}
