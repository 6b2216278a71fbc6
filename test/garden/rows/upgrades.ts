import { CHUNKED, chunk, LAST_CHUNK, lengthOf, type Make, type Shape } from './make.ts'

const WEBSOCKET = ['connection: Upgrade', 'upgrade: websocket', 'sec-websocket-version: 13', 'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==']
const H2C = ['connection: Upgrade, HTTP2-Settings', 'upgrade: h2c', 'http2-settings: AAMAAABkAAQAAP__']

const OFFERS: readonly (readonly [name: string, lines: readonly string[]])[] = [
  ['a WebSocket handshake', WEBSOCKET],
  ['an offer of h2c', H2C],
  ['an offer of something', ['connection: Upgrade', 'upgrade: something']],
]

function refused(make: Make): string {
  return make.head('GET', [...WEBSOCKET, 'content-length: 999'], { target: make.targets.refused })
}

/** Upgrades with bodies, refused and accepted, and with requests after them. */
export const upgradeShapes: readonly Shape[] = [
  ...OFFERS.flatMap(([name, lines]): Shape[] => [
    {
      name: `${name} with a length and no body`,
      bytes: ({ head }) => head('GET', [...lines, 'content-length: 300'], { behaviour: 'early404' }),
    },
    {
      name: `${name} with a body`,
      bytes: (make) => make.head('GET', [...lines, lengthOf(make.hidden)], { behaviour: 'early404' }) + make.hidden,
    },
    {
      name: `${name} with a chunked body`,
      bytes: (make) => make.head('GET', [...lines, CHUNKED], { behaviour: 'early404' }) + chunk(make.hidden) + LAST_CHUNK,
    },
    { name: `${name}, refused`, bytes: ({ head }) => head('GET', lines, { behaviour: 'early404' }) },
    { name: `${name}, not heard of`, bytes: ({ head }) => head('GET', lines) },
    { name: `${name} behind a request`, bytes: ({ head }) => head('GET') + head('GET', lines, { behaviour: 'early404' }) },
    { name: `${name} by POST`, bytes: (make) => make.head('POST', [...lines, lengthOf(make.hidden)]) + make.hidden },
  ]),
  { name: 'a WebSocket handshake with a length, refused by the server itself', bytes: refused },
  {
    name: 'a WebSocket handshake with a length, accepted',
    bytes: (make) => make.head('GET', [...WEBSOCKET, lengthOf(make.hidden)], { behaviour: 'switch' }) + make.hidden,
  },
  {
    name: 'a WebSocket handshake of a wrong version',
    bytes: ({ head }) =>
      head(
        'GET',
        WEBSOCKET.map((line) => line.replace('13', '777')),
        { behaviour: 'early404' },
      ),
  },
  {
    name: 'a WebSocket handshake of HTTP/1.0',
    bytes: ({ head }) => head('GET', WEBSOCKET, { behaviour: 'early404', version: 'HTTP/1.0' }),
  },
]
