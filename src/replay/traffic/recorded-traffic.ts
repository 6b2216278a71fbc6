import type { SampledKind } from '../../migrate/clients.ts'

/** What is known of the time and the client of a request. */
interface Circumstances {
  /** Milliseconds since 1970. */
  readonly at?: number
  /** The file's name for the client: a hash, a user name or an address, never a credential. */
  readonly client?: string
}

/** A request as it was sent. */
export interface RecordedRequest extends Circumstances {
  readonly method: string
  /** Path and query, still encoded. */
  readonly url: string
  /** The headers by which v1 routes. If they were not recorded, they are inferred from the answer. */
  readonly headers: { readonly 'content-type'?: string; readonly 'x-http-method-override'?: string }
  /** Text of the body. */
  readonly body?: string
  /** HTTP status of v1's answer, if it was recorded. */
  readonly status?: number
}

/** Requests of which only the operation, or their shape, was recorded. */
export interface Counted extends Circumstances {
  readonly operation: string
  /** As `shapeOf` writes it; absent if it is unknown. */
  readonly shape?: string
  readonly times: number
  /** The kinds of requests among those that the proxy looked at. */
  readonly requests?: readonly SampledKind[]
}

/** One or several like requests of recorded traffic. */
export type Item = RecordedRequest | Counted

/** `json` and `nginx` are described by flags. */
export type Format = 'har' | 'records' | 'access-log' | 'envoy' | 'alb' | 'traefik' | 'kong' | 'envoy-json' | 'json' | 'nginx'

/** Recorded traffic, item by item. */
export interface Traffic {
  readonly format: Format
  readonly items: AsyncIterable<Item>
  /** Lines or entries that could not be read; complete once `items` has ended. */
  readonly unreadable: () => number
  /** The numbers of the first such lines, from 1. */
  readonly unreadableLines: () => readonly number[]
}
