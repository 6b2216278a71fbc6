import { isObject } from '../../tables/json.ts'
import type { Operation } from '../../tables/operations/operation.ts'
import type { Answered } from '../observe/ask.ts'
import type { Side } from './mode.ts'

/** Lists that v1 paged by token itself (facts §10.2). */
export function isPaged({ ownParams }: Operation): boolean {
  return ownParams.includes('page_token')
}

const TOKEN = /[?&](?:page_token|pageToken)=([^&]+)/

/** The page token with which a request goes on with a list; only the side that gave it knows where that is. */
export function pageTokenOf(operation: Operation, url: string): string | undefined {
  const token = isPaged(operation) ? TOKEN.exec(url)?.[1] : undefined
  if (token === undefined) return undefined
  try {
    return decodeURIComponent(token)
  } catch {
    return token
  }
}

/** The tokens for the next page that the two sides gave: that of the side that served, and that of the other. */
export function tokensOf(sides: Readonly<Record<Side, Answered>>, by: Side): readonly [string | undefined, string | undefined] {
  const [v1, v2] = [nextToken(sides.v1), nextToken(sides.v2)]
  return by === 'v1' ? [v1, v2] : [v2, v1]
}

function nextToken({ seen: { body } }: Answered): string | undefined {
  if (body.kind !== 'json' || !isObject(body.value)) return undefined
  const { next_page_token: token = body.value.nextPageToken } = body.value
  return typeof token === 'string' && token !== '' ? token : undefined
}
