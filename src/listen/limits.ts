/** Limits of a connection, named as in the configuration. */
export interface ConnectionLimits {
  /** Bytes of request line and headers; a query with many uids needs room. */
  readonly headerBytes: number
  /** Milliseconds for the headers of a request to arrive. */
  readonly headersTimeoutMs: number
  /** Milliseconds without a byte in either direction before a connection is closed, even during a request. */
  readonly idleTimeoutMs: number
  /** Requests of one connection in progress or waiting: streams of HTTP/2, a pipeline of HTTP/1.1. */
  readonly maxStreams: number
  /** The maximum number of open connections; 0 = unlimited. */
  readonly connections: number
  /** Several processes listen on the port, by node:cluster. */
  readonly isShared?: boolean
}
