import { credential } from '../tokens.ts'

export const CARRIERS = ['native', 'translated', 'v1'] as const
export type CarrierName = (typeof CARRIERS)[number]

/** The path that selects each carrier in the proxy. The server behind the proxy itself answers `refused`. */
export const TARGETS: Readonly<Record<CarrierName, { readonly read: string; readonly write: string; readonly refused: string }>> = {
  native: { read: '/iam/v2/groups', write: '/iam/v2/groups', refused: '/iam/v2/refused' },
  translated: { read: '/iam/v1/groups', write: `/iam/v1/groups/${'a'.repeat(40)}`, refused: '/iam/v1/refused' },
  v1: { read: '/registry/v1/vuln_reports', write: '/registry/v1/vuln_reports', refused: '/registry/v1/refused' },
}

/** The parts of an odd request. */
export interface Make {
  readonly carrier: CarrierName
  readonly targets: (typeof TARGETS)[CarrierName]
  /** A request in a body, or where a careless reader sees one. It is whole, or left open for the head of another client. */
  readonly hidden: string
  /** The same, always whole. */
  readonly hiddenWhole: string
  /** Returns a head with the next credential of this row, and these lines. */
  head(method: string, lines?: readonly string[], options?: HeadOptions): string
  pick<T>(items: readonly T[]): T
}

export interface HeadOptions {
  readonly target?: string
  readonly version?: string
  /** The behaviour of the journal. */
  readonly behaviour?: string
}

/** One or several odd requests as bytes. Each part of a list is sent after the answer to the one before. */
export interface Shape {
  readonly name: string
  readonly bytes: (make: Make) => string | readonly string[]
}

const READS = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

/** Creates the parts of one row; their ids name the row. */
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

/** Returns a body as one chunk. */
export const chunk = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n`
export const LAST_CHUNK = '0\r\n\r\n'
export const CHUNKED = 'transfer-encoding: chunked'
export const lengthOf = (body: string) => `content-length: ${body.length}`
