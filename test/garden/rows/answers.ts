import { lengthOf, type Shape } from './make.ts'

/** Faults of the journal, by name. No client may receive the bytes after its one answer. */
const BROKEN = ['twice', 'spill', 'spillchunks', 'nobody', 'unchanged', 'lengths', 'both', 'coded', 'folded', 'unasked']

/** Well-formed requests whose answers are odd. */
export const answerShapes: readonly Shape[] = [
  ...BROKEN.map(
    (behaviour): Shape => ({ name: `an answer that is odd: ${behaviour}`, bytes: ({ head }) => head('GET', [], { behaviour }) }),
  ),
  ...['twice', 'spill'].map(
    (behaviour): Shape => ({
      name: `an answer to a POST that is odd: ${behaviour}`,
      bytes: (make) => make.head('POST', [lengthOf(make.hidden)], { behaviour }) + make.hidden,
    }),
  ),
  ...['twice', 'nobody'].map(
    (behaviour): Shape => ({
      name: `an answer to a HEAD that is odd: ${behaviour}`,
      bytes: ({ head }) => head('HEAD', [], { behaviour }),
    }),
  ),
  { name: 'an answer after hints', bytes: ({ head }) => head('GET', [], { behaviour: 'hinted' }) },
  { name: 'an answer that breaks off', bytes: ({ head }) => head('GET', [], { behaviour: 'cut' }) },
]
