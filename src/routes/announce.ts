import type { FastifyInstance, FastifyReply } from 'fastify'

/** What v1 answers say about the end of v1; times are in seconds since the epoch. The default is nothing, as in v1. */
export interface Announcement {
  readonly deprecation: number | undefined
  readonly sunset: number | undefined
  /** The address of v1's replacement. */
  readonly successor: string | undefined
}

/** Alternating names and values. */
export type RawHeaders = readonly string[]

export interface Announce {
  /** The headers of every v1 answer. */
  readonly headers: RawHeaders
  /** Adds them to an answer that Fastify writes, before the answer begins. */
  put(reply: FastifyReply): void
}

/**
 * Adds `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and `Link: rel="successor-version"` (RFC 5829) to every v1 answer of `app`, errors
 * included. Headers of the v1 service arrive later. Ours replace them, except links, which are combined.
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
