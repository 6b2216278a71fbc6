import { credential } from '../tokens.ts'

export const CARRIERS = ['native', 'translated', 'v1'] as const
export type CarrierName = (typeof CARRIERS)[number]

/** How a request is carried through the proxy, told by its path. `refused` is answered by the server behind the proxy itself. */
export const TARGETS: Readonly<Record<CarrierName, { readonly read: string; readonly write: string; readonly refused: string }>> = {
  native: { read: '/iam/v2/groups', write: '/iam/v2/groups', refused: '/iam/v2/refused' },
  translated: { read: '/iam/v1/groups', write: `/iam/v1/groups/${'a'.repeat(40)}`, refused: '/iam/v1/refused' },
  v1: { read: '/registry/v1/vuln_reports', write: '/registry/v1/vuln_reports', refused: '/registry/v1/refused' },
}

/** What an odd request is made of. */
export interface Make {
  readonly carrier: CarrierName
  readonly targets: (typeof TARGETS)[CarrierName]
  /** A request that only stands in a body, or where a careless reader sees one: whole, or left open for the head of somebody else. */
  readonly hidden: string
  /** The same, always whole. */
  readonly hiddenWhole: string
  /** A head with the next credential of this row, and these lines. */
  head(method: string, lines?: readonly string[], options?: HeadOptions): string
  pick<T>(items: readonly T[]): T
}

export interface HeadOptions {
  readonly target?: string
  readonly version?: string
  /** Of the journal. */
  readonly behaviour?: string
}

/** One odd request, or a few, as bytes. Where it is a list, each part is sent when there was an answer to the one before. */
export interface Shape {
  readonly name: string
  readonly bytes: (make: Make) => string | readonly string[]
}

const READS = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

/** The material of one row; its ids name the row. */
export function createMake(row: number, carrier: CarrierName, random: () => number): Make {
  const targets = TARGETS[carrier]
  const pick = <T>(items: readonly T[]) => items[Math.floor(random() * items.length)] as T
  let requests = 0
  const hiddenWhole = `GET /iam/v2/hidden-${row} HTTP/1.1\r\nhost: garden\r\n${credential(`hidden-${row}`, 'ok')}\r\n\r\n`
  const hiddenOpen = `DELETE /iam/v2/hidden-${row} HTTP/1.1\r\nx-ignore: `
  return {
    carrier,
    targets,
    hidden: pick([hiddenWhole, hiddenOpen]),
    hiddenWhole,
    head(method, lines = [], { target, version = 'HTTP/1.1', behaviour = 'ok' } = {}) {
      const name = credential(`r${row}-${requests++}`, behaviour)
      const start = `${method} ${target ?? (READS.has(method) ? targets.read : targets.write)} ${version}`
      return `${[start, 'host: garden', name, ...lines].join('\r\n')}\r\n\r\n`
    },
    pick,
  }
}

/** A body in one chunk. */
export const chunk = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n`
export const LAST_CHUNK = '0\r\n\r\n'
export const CHUNKED = 'transfer-encoding: chunked'
export const lengthOf = (body: string) => `content-length: ${body.length}`
