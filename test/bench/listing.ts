import http from 'node:http'

/** One list as a client received it. */
export interface Received {
  /** Milliseconds from the request to the first byte of the body, and to its last. */
  readonly firstMs: number
  readonly ms: number
  readonly bytes: number
}

export interface Reading {
  readonly url: string
  readonly path: string
  /** The caller; callers share no calls. */
  readonly caller?: string
  /** Bytes per second that this client reads. Default: unlimited. */
  readonly pace?: number
}

/** Reads a list to its end without keeping it. Throws if it is not a 200 or breaks off. */
export function readList({ url, path, caller = 'lists', pace }: Reading): Promise<Received> {
  const started = performance.now()
  return new Promise((resolve, reject) => {
    const request = http.get(url + path, { headers: { authorization: `Bearer ${caller}` }, agent: false }, (answer) => {
      if (answer.statusCode !== 200) reject(new Error(`${path} was answered with ${answer.statusCode}`))
      let firstMs = Number.NaN
      let bytes = 0
      answer.on('data', (chunk: Buffer) => {
        if (bytes === 0) firstMs = performance.now() - started
        bytes += chunk.length
        const early = pace === undefined ? 0 : (bytes / pace) * 1000 - (performance.now() - started)
        if (early <= 0) return
        answer.pause()
        setTimeout(() => answer.resume(), early)
      })
      answer.on('end', () => resolve({ firstMs, ms: performance.now() - started, bytes }))
      answer.on('error', reject)
    })
    request.on('error', reject)
  })
}

/** Repeats a small request, one after another, until `over`. Returns the milliseconds of each. */
export async function keepAsking(reading: Reading, over: Promise<unknown>): Promise<readonly number[]> {
  const times: number[] = []
  let going = true
  const end = over.finally(() => {
    going = false
  })
  while (going) times.push((await readList(reading)).ms)
  await end
  return times
}
