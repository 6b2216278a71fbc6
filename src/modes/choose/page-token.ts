import { isObject } from '../../tables/json.ts'
import type { Operation } from '../../tables/operations/operation.ts'
import type { SideAnswer } from '../observe/ask.ts'
import type { Side } from './mode.ts'

/** True for lists that v1 itself paged by token (facts §10.2). */
export function isPaged({ ownParams }: Operation): boolean {
  return ownParams.includes('page_token')
}

const TOKEN = /[?&](?:page_token|pageToken)=([^&]+)/

/** Returns the page token that continues a list. Only the side that issued it can read it. */
export function pageTokenOf(operation: Operation, url: string): string | undefined {
  const token = isPaged(operation) ? TOKEN.exec(url)?.[1] : undefined
  if (token === undefined) return undefined
  try {
    return decodeURIComponent(token)
  } catch {
    return token
  }
}

/** Returns the tokens for the next page: that of the side that served, and that of the other side. */
export function tokensOf(sides: Readonly<Record<Side, SideAnswer>>, by: Side): readonly [string | undefined, string | undefined] {
  const [v1, v2] = [nextToken(sides.v1), nextToken(sides.v2)]
  return by === 'v1' ? [v1, v2] : [v2, v1]
}

function nextToken({ seen: { body } }: SideAnswer): string | undefined {
  if (body.kind !== 'json' || !isObject(body.value)) return undefined
  const { next_page_token: token = body.value.nextPageToken } = body.value
  return typeof token === 'string' && token !== '' ? token : undefined
}
