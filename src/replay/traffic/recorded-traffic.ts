/** What is known of when and by whom a request was made. */
interface Circumstances {
  /** Milliseconds since 1970. */
  readonly at?: number
  /** A hash, a user name, or an address: whatever the file tells clients apart by, and never a credential. */
  readonly client?: string
}

/** A request as it was sent. */
export interface Sent extends Circumstances {
  readonly method: string
  /** Path and query, still encoded. */
  readonly url: string
  /** Those that v1 routes by; where nothing is known of them, what the answer gives away. */
  readonly headers: { readonly 'content-type'?: string; readonly 'x-http-method-override'?: string }
  /** Text of the body. */
  readonly body?: string
}

/** Requests of which only the operation, or their shape, was recorded. */
export interface Counted extends Circumstances {
  readonly operation: string
  /** As `shapeOf` writes it; absent where not even that is known. */
  readonly shape?: string
  readonly times: number
}

/** One request of recorded traffic, or several that are alike. */
export type Item = Sent | Counted

export type Format = 'har' | 'access-log' | 'records'

/** Recorded traffic, item by item. */
export interface Traffic {
  readonly format: Format
  readonly items: AsyncIterable<Item>
  /** Lines or entries that could not be read; complete when `items` is at its end. */
  readonly unreadable: () => number
}
