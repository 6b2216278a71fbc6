import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One received event. */
export type Received = {
  readonly method: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into payloads of every shape
  readonly json: any
}

/** A local event receiver. */
export type SinkServer = {
  readonly url: string
  /** Waits for the `count` events after those already taken and returns them in order of arrival. */
  readonly take: (count?: number) => Promise<readonly Received[]>
  /** The number of received events that were not taken. */
  readonly pending: () => number
  /** The statuses of the next answers; 200 once they are used up. */
  readonly answer: (...statuses: readonly number[]) => void
  readonly close: () => Promise<void>
}

const createInbox = () => {
  const inbox: Received[] = []
  let arrived = (): void => {}
  const take = async (count = 1): Promise<readonly Received[]> => {
    while (inbox.length < count) {
      await new Promise<void>((resolve) => {
        arrived = resolve
      })
    }
    return inbox.splice(0, count)
  }
  const put = (received: Received): void => {
    inbox.push(received)
    arrived()
  }
  return { take, put, pending: () => inbox.length }
}

/** Starts a receiver on a free port. */
export const startSink = async (): Promise<SinkServer> => {
  const { take, put, pending } = createInbox()
  const statuses: number[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const status = statuses.shift() ?? 200
    response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end()
    put({ method: request.method ?? '', headers: request.headers, text, json: JSON.parse(text) })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`
  return { url, take, pending, close, answer: (...next) => void statuses.push(...next) }
}
