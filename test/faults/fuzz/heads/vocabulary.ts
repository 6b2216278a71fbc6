import { NO_KEY } from '../upstream/script.ts'

/** Names with special treatment in a proxy: single-valued ones, those of one hop, and its own. */
export const NAMES = [
  ...['access-control-allow-credentials', 'access-control-max-age', 'age', 'alt-svc', 'authorization', 'cache-control', 'connection'],
  ...['content-disposition', 'content-encoding', 'content-language', 'content-length', 'content-location', 'content-md5', 'content-range'],
  ...[
    'content-type',
    'date',
    'dnt',
    'early-data',
    'etag',
    'expect',
    'expires',
    'from',
    'grpc-message',
    'grpc-status',
    'host',
    'http2-settings',
  ],
  ...['if-match', 'if-none-match', 'keep-alive', 'last-modified', 'link', 'location', 'max-forwards', 'origin', 'proxy-authenticate'],
  ...[
    'proxy-authorization',
    'proxy-connection',
    'range',
    'referer',
    'retry-after',
    'sec-websocket-accept',
    'server',
    'set-cookie',
    'status',
  ],
  ...[
    'strict-transport-security',
    'te',
    'tk',
    'trailer',
    'transfer-encoding',
    'upgrade',
    'upgrade-insecure-requests',
    'user-agent',
    'vary',
  ],
  ...['via', 'warning', 'www-authenticate', 'x-content-type-options', 'x-frame-options', 'x-request-id', 'x-crosswalk-mode'],
] as const

/** Almost valid names, and a long one. */
export const ODD_NAMES = [
  ...[
    '',
    ' ',
    ':',
    ':status',
    ':path',
    ':x',
    'x y',
    'x\ty',
    '\x00',
    'x\x00y',
    'x\x7f',
    '\xe9',
    'x\xff',
    '"q"',
    '(c)',
    'a/b',
    'a@b',
    'a,b',
    'a;b',
  ],
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', '0', '-', "!#$%&'*+-.^_`|~", 'X-UPPER', 'Content-Type', 'x'.repeat(5000)],
]

export const VALUES = [
  ...[
    '',
    ' ',
    '0',
    '1',
    '-1',
    '5, 5',
    '1e3',
    '0x10',
    '99999999999999999999',
    'a',
    'a,b',
    'close',
    'keep-alive',
    'keep-alive, close',
    'Upgrade',
  ],
  ...['chunked', 'identity', 'gzip', 'gzip, chunked', 'chunked, chunked', 'trailers', 'websocket', 'h2c', 'nosniff', 'true', '*', 'x-hop'],
  ...['x-case', 'content-type', 'content-length', 'transfer-encoding', 'x-request-id, x-hop', 'date', 'host', 'set-cookie', ':status'],
  ...[
    'application/json',
    'application/grpc',
    'application/json; charset="utf-8"',
    'text/html',
    'AAMAAABkAAQAAP__',
    'a=1; HttpOnly',
    NO_KEY,
  ],
  ...[
    '"e"',
    'W/"e"',
    'Mon, 01 Jan 2024 00:00:00 GMT',
    'bytes 0-1/2',
    '/elsewhere',
    'http://127.0.0.1:1/',
    '\x01',
    '\x7f',
    'a\x00b',
    'a\x0bb',
  ],
  ...['\xe9\xff', 'a\rb', 'a\nb', 'a\r\n b', 'a\r\nx-evil: 1', ' lead', 'trail ', '\ttab\t', 'v'.repeat(9000), 'v'.repeat(60_000)],
]

/** Longer than a header in an HTTP/2 block may be: it ends the connection. */
export const HUGE = 'v'.repeat(70_000)

/** The texts beside the status. */
export const REASONS = [
  ...[
    'OK',
    'OK',
    'OK',
    '',
    'Not Found',
    'a b c',
    '\ttab',
    '\xe9\xff',
    '\x01',
    'a\x00b',
    'a\x7fb',
    '\x1b[2J',
    'a\rb',
    '200',
    'HTTP/1.1 200 OK',
  ],
  ...['r'.repeat(9000), '<script>', '%0d%0a', ' lead', 'trail '],
]

export const STATUSES = [
  ...[
    200, 200, 200, 200, 201, 202, 203, 204, 205, 206, 207, 226, 299, 300, 301, 302, 304, 307, 400, 401, 403, 404, 405, 407, 408, 409, 410,
  ],
  ...[411, 412, 413, 416, 417, 418, 421, 425, 426, 429, 431, 451, 499, 500, 501, 502, 503, 504, 505, 511, 599],
].map(String)

export const ODD_STATUSES = [
  '000',
  '001',
  '020',
  '099',
  '100',
  '101',
  '102',
  '103',
  '199',
  '600',
  '666',
  '999',
  '1000',
  '20',
  '2',
  '',
  '-1',
  '2x0',
  '0200',
  '+20',
  '65536',
]
