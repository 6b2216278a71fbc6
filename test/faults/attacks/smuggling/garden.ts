import { type Journal, startJournal } from '../../../garden/journal.ts'
import { startServer } from '../../../garden/server.ts'
import { nginx } from '../../../garden/servers/nginx.ts'
import { startProxy } from '../../../stage/proxy.ts'

/** The proxy in front of a journal in the place of v2 and v1, alone or behind nginx. */
export interface InGarden {
  readonly url: string
  readonly port: number
  readonly journal: Journal
}

export async function inGarden(isBehindNginx: boolean, use: (place: InGarden) => Promise<string>): Promise<string> {
  const journal = await startJournal()
  const server = isBehindNginx ? await startServer(nginx, journal.port) : undefined
  const upstream = `http://127.0.0.1:${server?.port ?? journal.port}`
  const proxy = await startProxy({ 'upstream.v2': upstream, 'upstream.v1': upstream, 'fallback.perMinute': 0 })
  try {
    return await use({ url: proxy.url, port: Number(new URL(proxy.url).port), journal })
  } finally {
    await proxy.close()
    await server?.stop()
    await journal.close()
  }
}

/** The requirements of a fault with `isBehindNginx`. */
export const NEEDS_NGINX = { full: true, needs: nginx.program } as const
