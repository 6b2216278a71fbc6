import { CHUNKED, chunk, LAST_CHUNK, lengthOf, type Make, type Shape } from './make.ts'

/** Well-formed requests for a pipeline. */
const LINKS: Readonly<Record<string, (make: Make) => string>> = {
  get: ({ head }) => head('GET'),
  head: ({ head }) => head('HEAD'),
  post: (make) => make.head('POST', [lengthOf(make.hidden)]) + make.hidden,
  chunks: (make) => make.head('POST', [CHUNKED]) + chunk(make.hidden) + LAST_CHUNK,
  early: (make) => make.head('POST', [lengthOf(make.hidden)], { behaviour: 'early401' }) + make.hidden,
  getWithBody: (make) => make.head('GET', [lengthOf(make.hidden)]) + make.hidden,
  chunkedAnswer: ({ head }) => head('GET', [], { behaviour: 'chunked' }),
  cut: ({ head }) => head('GET', [], { behaviour: 'cut' }),
  closing: ({ head }) => head('GET', [], { behaviour: 'close200' }),
}

const PIPELINES = [
  ...[
    ['get', 'get'],
    ['head', 'get'],
    ['post', 'get'],
    ['early', 'get'],
    ['chunks', 'post', 'get'],
    ['cut', 'get'],
    ['closing', 'get'],
  ],
  ...[
    ['getWithBody', 'head', 'get'],
    ['chunkedAnswer', 'get', 'head', 'get'],
    ['early', 'early', 'early', 'get'],
    ['get', 'get', 'get', 'get', 'get'],
  ],
]

/** Number of pipelines that a seed adds to those above. */
const DRAWN = 6

/** Two to five requests in one write. */
export const pipelineShapes: readonly Shape[] = [
  ...PIPELINES.map(
    (links): Shape => ({ name: `a pipeline of ${links.join(', ')}`, bytes: (make) => links.map((link) => LINKS[link]?.(make)).join('') }),
  ),
  ...Array.from(
    { length: DRAWN },
    (_, at): Shape => ({
      name: `a pipeline by chance, ${at + 1}`,
      bytes: (make) => Array.from({ length: make.pick([2, 3, 4, 5]) }, () => make.pick(Object.values(LINKS))(make)).join(''),
    }),
  ),
]
