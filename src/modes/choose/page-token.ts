import type { SeenAnswer } from '../../diff/compare/compare.ts'
import type { Side } from '../../serve/sides.ts'
import { isObject } from '../../tables/json.ts'
import type { Operation } from '../../tables/operation.ts'
import { spellings } from '../../tables/query.ts'

/** True for lists that v1 itself paged by token (facts §10.2). */
export function isPaged({ paging }: Operation): boolean {
  return paging !== undefined
}

/** Returns the page token that continues a list. Only the side that issued it can read it. */
export function pageTokenOf({ paging }: Operation, url: string): string | undefined {
  if (paging === undefined) return undefined
  const names = spellings(paging.parameter)
  const found = pairsOf(url).find(([name, value]) => names.includes(name) && value !== '')
  const token = found?.[1]
  if (token === undefined) return undefined
  try {
    return decodeURIComponent(token)
  } catch {
    return token
  }
}

/** Returns a request target with another page token. */
export function withPageToken({ paging }: Operation, url: string, token: string): string {
  const names = paging ? spellings(paging.parameter) : []
  const pairs = pairsOf(url).map(([name, value, text]) =>
    names.includes(name) && value !== '' ? `${name}=${encodeURIComponent(token)}` : text,
  )
  return pairs.length === 0 ? url : `${url.slice(0, url.indexOf('?'))}?${pairs.join('&')}`
}

/** The parameters of a request target as they are written: name, value, and both. */
function pairsOf(url: string): readonly (readonly [name: string, value: string, text: string])[] {
  const at = url.indexOf('?')
  if (at < 0) return []
  return url
    .slice(at + 1)
    .split('&')
    .map((text) => {
      const [name = '', ...value] = text.split('=')
      return [name, value.join('='), text]
    })
}

interface AnsweredSide {
  readonly seen: SeenAnswer
}

/** Returns the tokens for the next page: that of the side that served, and that of the other side. */
export function tokensOf(
  { paging }: Operation,
  sides: Readonly<Record<Side, AnsweredSide>>,
  by: Side,
): readonly [string | undefined, string | undefined] {
  const names = paging ? spellings(paging.member) : []
  const [v1, v2] = [nextToken(sides.v1, names), nextToken(sides.v2, names)]
  return by === 'v1' ? [v1, v2] : [v2, v1]
}

function nextToken({ seen: { body } }: AnsweredSide, names: readonly string[]): string | undefined {
  if (body.kind !== 'json' || !isObject(body.value)) return undefined
  const { value } = body
  return names.map((name) => value[name]).find((token): token is string => typeof token === 'string' && token !== '')
}
