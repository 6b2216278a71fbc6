import { lengthOf, type Make, type Shape } from './make.ts'

const TARGETS: readonly (readonly [name: string, target: (make: Make) => string])[] = [
  ['that is a whole address', ({ targets }) => `http://garden${targets.read}`],
  ['that is an address elsewhere', ({ targets }) => `http://elsewhere.example${targets.read}`],
  ['of a path with two slashes', ({ targets }) => `/${targets.read}`],
  ['with a dot segment', ({ targets }) => targets.read.replace('/iam', '/iam/x/..')],
  ['with a fragment', ({ targets }) => `${targets.read}#x`],
  ['with a backslash', ({ targets }) => `${targets.read}\\x`],
  ['with an encoded line end', ({ targets, hiddenWhole }) => `${targets.read}?x=${encodeURIComponent(`x HTTP/1.1\r\n\r\n${hiddenWhole}`)}`],
  ['with an encoded space', ({ targets }) => `${targets.read}?x=%20HTTP/1.1`],
  ['with a space', ({ targets }) => `${targets.read} HTTP/1.1 x`],
  ['with a tab', ({ targets }) => `${targets.read}\tHTTP/1.1`],
  ['with a NUL', ({ targets }) => `${targets.read}\x00`],
  ['that is a star', () => '*'],
  ['that is empty', () => ''],
]

const METHODS = ['get', 'BREW', 'GET\x00', 'CONNECT', 'PROPFIND', 'M-SEARCH', '"GET"']

/** Request lines: targets, methods, versions. */
export const startShapes: readonly Shape[] = [
  ...TARGETS.map(
    ([name, target]): Shape => ({ name: `a target ${name}`, bytes: (make) => make.head('GET', [], { target: target(make) }) }),
  ),
  ...METHODS.map(
    (method): Shape => ({
      name: `method ${JSON.stringify(method)} with a body`,
      bytes: (make) => make.head(method, [lengthOf(make.hidden)], { target: make.targets.read }) + make.hidden,
    }),
  ),
  { name: 'HTTP/1.0 kept alive', bytes: ({ head }) => head('GET', ['connection: keep-alive'], { version: 'HTTP/1.0' }) },
  {
    name: 'HTTP/1.0 kept alive, its end is the end of the connection',
    bytes: ({ head }) => head('GET', ['connection: keep-alive'], { version: 'HTTP/1.0', behaviour: 'close200' }),
  },
  {
    name: 'HTTP/1.0 with a length',
    bytes: (make) => make.head('POST', ['connection: keep-alive', lengthOf(make.hidden)], { version: 'HTTP/1.0' }) + make.hidden,
  },
  {
    name: 'HTTP/1.0 with chunks',
    bytes: (make) =>
      make.head('POST', ['connection: keep-alive', 'transfer-encoding: chunked'], { version: 'HTTP/1.0' }) +
      `${make.hidden.length.toString(16)}\r\n${make.hidden}\r\n0\r\n\r\n`,
  },
  ...['HTTP/1.2', 'HTTP/2.0', 'HTTP/0.9', 'http/1.1', 'HTTP/1.1\x00', 'HTTP/01.1'].map(
    (version): Shape => ({
      name: `version ${JSON.stringify(version)}`,
      bytes: (make) => make.head('POST', [lengthOf(make.hidden)], { version }) + make.hidden,
    }),
  ),
  { name: 'no version', bytes: ({ targets, hiddenWhole }) => `GET ${targets.read}\r\n${hiddenWhole}` },
]
