import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Config } from '../../src/app/config/settings.ts'
import { startProxy, type TestProxy } from '../stage/proxy.ts'
import { startUpstream, type Upstream } from '../stage/upstream.ts'

/** The behaviour of a server behind the proxy after it has read a request's body. */
export type Behaviour = (request: IncomingMessage, response: ServerResponse, body: string) => void

export interface World {
  /** Plays v2 and v1. */
  readonly upstream: Upstream
  readonly proxy: TestProxy
}

/** Runs `use` with the proxy in front of one upstream that plays both services. */
export async function inWorld<T>(behaviour: Behaviour, settings: Partial<Config>, use: (world: World) => Promise<T>): Promise<T> {
  const upstream = await startUpstream(behaviour)
  const proxy = await startProxy({ 'upstream.v2': upstream.url, 'upstream.v1': upstream.url, 'fallback.perMinute': 0, ...settings })
  try {
    return await use({ upstream, proxy })
  } finally {
    await proxy.close()
    await upstream.close()
  }
}

/** Answers every request with rows, page by page as it was asked. */
export const serving =
  (rows: number): Behaviour =>
  ({ url = '' }, response) => {
    const { searchParams } = new URL(url, 'http://v2')
    const skipped = Math.min(rows, Number(searchParams.get('skip') ?? 0))
    const from = Number(searchParams.get('page_token') ?? skipped)
    const to = Math.min(rows, from + Number(searchParams.get('page_size') ?? rows))
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(listOf(to - from, to < rows ? String(to) : '', from, skipped))
  }

/** A v2 list as text, from a row on. `skipped` echoes the query's skip. No v1 error has the same text. */
export function listOf(rows: number, nextPageToken = '', from = 0, skipped = 0): string {
  const groups = Array.from({ length: rows }, (_, at) => ({ uid: String(from + at).padStart(40, '0'), name: `g${from + at}` }))
  // The uid makes it the answer to a write, the repos one to their list.
  return JSON.stringify({ uid: '0'.repeat(40), groups, repos: [], nextPageToken, skipped })
}
