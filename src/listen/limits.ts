/** Bounds of a connection; the names are those of the configuration. */
export interface ConnectionLimits {
  /** Bytes of request line and headers; a list of many uids in a query needs room. */
  readonly headerBytes: number
  /** Milliseconds for the headers of a request to arrive. */
  readonly headersTimeoutMs: number
  /** Milliseconds without a byte in either direction after which a connection is closed, even when a request is under way. */
  readonly idleTimeoutMs: number
  /** Requests of one connection that are under way or wait: streams of HTTP/2, a pipeline of HTTP/1.1. */
  readonly maxStreams: number
  /** Connections open at the same time; 0 = no bound. */
  readonly connections: number
}
