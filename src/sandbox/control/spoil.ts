import type { Fault } from './faults.ts'

type Node = Record<string, unknown> | unknown[]

/** Applies a fault's `drop` and `change` to a copy of the body. The original may share rows with the store. */
export const spoiled = (body: unknown, { drop, change }: Fault): unknown => {
  if (body === undefined || (drop === undefined && change === undefined)) return body
  const copy: unknown = structuredClone(body)
  if (drop !== undefined) eachParent(copy, segmentsOf(drop), remove)
  if (change) eachParent(copy, segmentsOf(change.at), (parent, name) => replace(parent, name, change.to))
  return copy
}

/** Makes a list begin late, as a fault's `shift` asks. A page token already determines where its page begins. */
export const shifted = (url: string, { shift }: Fault): string => {
  const [path = '', search = ''] = url.split('?', 2)
  const query = new URLSearchParams(search)
  if (shift === undefined || query.has('page_token') || query.has('pageToken')) return url
  query.set('skip', String(Number(query.get('skip') ?? 0) + shift))
  return `${path}?${query}`
}

const segmentsOf = (pointer: string): readonly string[] =>
  pointer
    .slice(1)
    .split('/')
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))

/** Visits every position that the segments lead to. `*` leads to all rows; missing members are skipped. */
const eachParent = (value: unknown, [first = '', ...rest]: readonly string[], visit: (parent: Node, name: string) => void): void => {
  if (typeof value !== 'object' || value === null) return
  const node = value as Node
  const names = first === '*' ? Object.keys(node).reverse() : Object.hasOwn(node, first) ? [first] : []
  for (const name of names) {
    if (rest.length === 0) visit(node, name)
    else eachParent((node as Record<string, unknown>)[name], rest, visit)
  }
}

const remove = (parent: Node, name: string): void => {
  if (Array.isArray(parent)) parent.splice(Number(name), 1)
  else delete parent[name]
}

const replace = (parent: Node, name: string, to: unknown): void => {
  ;(parent as Record<string, unknown>)[name] = to
}
