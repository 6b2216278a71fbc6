/**
 * Headers that HTTP/2 carries once: those that Node's HTTP/2 refuses to write twice.
 * Node 20, 22 and 24 agree, and the test asks the Node that runs it. Over HTTP/1.1, an application and its balancer often both add one.
 */
export const SINGLE_VALUED: ReadonlySet<string> = new Set([
  'access-control-allow-credentials',
  'access-control-max-age',
  'access-control-request-method',
  'age',
  'authorization',
  'content-encoding',
  'content-language',
  'content-length',
  'content-location',
  'content-md5',
  'content-range',
  'content-type',
  'date',
  'dnt',
  'etag',
  'expires',
  'from',
  'host',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'last-modified',
  'location',
  'max-forwards',
  'proxy-authorization',
  'range',
  'referer',
  'retry-after',
  'tk',
  'upgrade-insecure-requests',
  'user-agent',
  'x-content-type-options',
])

/** Headers of one connection, which HTTP/2 forbids (RFC 9113 §8.2.2). `te` may only say `trailers`, and only in a request. */
export const CONNECTION_SPECIFIC: ReadonlySet<string> = new Set([
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
])
