import { CHUNKED, chunk, LAST_CHUNK, lengthOf, type Make, type Shape } from './make.ts'

/** Methods that rarely have a body, so that a careless server leaves it on the connection. */
const BODILESS = ['GET', 'HEAD', 'OPTIONS', 'DELETE', 'TRACE'] as const

const withLength = (method: string, make: Make, behaviour: string, target?: string) =>
  make.head(method, [lengthOf(make.hidden)], target === undefined ? { behaviour } : { behaviour, target }) + make.hidden
const withChunks = (method: string, make: Make, behaviour: string) =>
  make.head(method, [CHUNKED], { behaviour }) + chunk(make.hidden) + LAST_CHUNK

/** Bodies that are unexpected, and bodies that are not read because the answer came first. */
export const bodyShapes: readonly Shape[] = [
  ...BODILESS.flatMap((method): Shape[] => [
    { name: `${method} with a body`, bytes: (make) => withLength(method, make, 'ok') },
    { name: `${method} with a chunked body`, bytes: (make) => withChunks(method, make, 'ok') },
  ]),
  { name: 'a body whose answer comes first', bytes: (make) => withLength('POST', make, make.pick(['early401', 'early200'])) },
  { name: 'a chunked body whose answer comes first', bytes: (make) => withChunks('POST', make, make.pick(['early401', 'early200'])) },
  { name: 'a body whose answer comes first and closes', bytes: (make) => withLength('POST', make, 'close401') },
  { name: 'GET with a body whose answer comes first', bytes: (make) => withLength('GET', make, 'early401') },
  { name: 'a body that the server itself refuses', bytes: (make) => withLength('POST', make, 'ok', make.targets.refused) },
  { name: 'GET with a body that the server itself refuses', bytes: (make) => withLength('GET', make, 'ok', make.targets.refused) },
  {
    name: 'a body that is sent after its answer came',
    bytes: (make) => [make.head('POST', [lengthOf(make.hidden)], { behaviour: 'early401' }), make.hidden],
  },
  {
    name: 'a body of which the half comes, its answer came',
    bytes: (make) => [make.head('POST', [`content-length: ${2 * make.hidden.length + 999}`], { behaviour: 'early401' }), make.hidden],
  },
  {
    name: 'chunks that never end, their answer came',
    bytes: (make) => [make.head('POST', [CHUNKED], { behaviour: 'early401' }), chunk(make.hidden)],
  },
  {
    name: 'a body of which the half comes, refused by the server itself',
    bytes: (make) => [
      make.head('POST', [`content-length: ${2 * make.hidden.length + 999}`], { target: make.targets.refused }),
      make.hidden,
    ],
  },
  { name: 'no body although a length says so', bytes: (make) => make.head(make.pick(['GET', 'POST', 'DELETE']), ['content-length: 40']) },
]
