import type { FastifyInstance, FastifyReply } from 'fastify'

/** What v1 answers say about the end of v1; moments in seconds since the epoch. By default nothing, as v1 said nothing. */
export interface Announcement {
  readonly deprecation: number | undefined
  readonly sunset: number | undefined
  /** Address of what replaces v1. */
  readonly successor: string | undefined
}

/** Names and values, one after the other. */
export type RawHeaders = readonly string[]

export interface Announce {
  /** What every v1 answer carries. */
  readonly headers: RawHeaders
  /** Puts it on an answer that Fastify writes, before anybody begins with it. */
  put(reply: FastifyReply): void
}

/**
 * `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and `Link: rel="successor-version"` (RFC 5829) for every v1 answer of `app`, errors
 * included. What the v1 service says itself comes onto a reply later: ours replace it, but for links, which add up.
 */
export function createAnnounce(app: FastifyInstance, announcement: Announcement): Announce {
  const headers = headersOf(announcement)
  if (Object.keys(headers).length === 0) return { headers: [], put: () => {} }
  app.addHook('onSend', async (_, reply) => {
    const theirs = reply.getHeader('link') ?? []
    const links = [theirs, headers.link ?? []].flat().join(', ')
    reply.headers({ ...headers, ...(headers.link !== undefined && theirs !== headers.link && { link: links }) })
  })
  return { headers: Object.entries(headers).flat(), put: (reply) => void reply.headers(headers) }
}

function headersOf({ deprecation, sunset, successor }: Announcement): { deprecation?: string; sunset?: string; link?: string } {
  return {
    ...(deprecation !== undefined && { deprecation: `@${deprecation}` }),
    ...(sunset !== undefined && { sunset: new Date(sunset * 1000).toUTCString() }),
    ...(successor !== undefined && { link: `<${successor}>; rel="successor-version"` }),
  }
}
