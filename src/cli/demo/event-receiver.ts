import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A receiver of events on this machine. */
export interface EventReceiver {
  /** The sink of a subscription. */
  readonly url: string
  close(): Promise<void>
}

/** The most bytes of an event that are shown. The rest is read and dropped. */
const MOST = 4096

/** Starts a receiver on any free port. `show` gets one line for each event: its type, its subject and its content. */
export async function startReceiver(show: (line: string) => void): Promise<EventReceiver> {
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    let bytes = 0
    try {
      for await (const part of request as AsyncIterable<Buffer>) {
        if (bytes < MOST) parts.push(part)
        bytes += part.length
      }
    } catch {
      // The sender hung up: there is no event to show.
      return
    }
    const { 'ce-type': type, 'ce-subject': subject } = request.headers
    if (type !== undefined) show(`event ${type}, subject ${subject}: ${Buffer.concat(parts).toString('utf8', 0, MOST)}`)
    response.writeHead(type === undefined ? 400 : 204).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
