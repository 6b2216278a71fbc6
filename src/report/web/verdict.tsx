import type { Standing } from '../../migrate/evidence/cutover.ts'
import type { DifferenceState } from '../difference.ts'
import { STANDINGS, STATES } from './words.ts'

const SHAPES: Readonly<Record<string, string>> = {
  inside: 'M3.5 8.5 6.5 11.5 12.5 4.5',
  outside: 'M4.5 4.5 11.5 11.5M11.5 4.5 4.5 11.5',
  inconclusive: 'M4 8h.01M8 8h.01M12 8h.01',
  'v1-only': 'M5.5 5.5 8.5 3.5V12.5M5.5 12.5H11.5',
  unverifiable: 'M4 8H12',
  unexplained: 'M4.5 4.5 11.5 11.5M11.5 4.5 4.5 11.5',
  failed: 'M8 3.5V9M8 12.3v.01',
  transient: 'M4.5 4.5 7 7M9 9 11.5 11.5M11.5 4.5 9 7M7 9 4.5 11.5',
  open: 'M4 8h.01M8 8h.01M12 8h.01',
  race: 'M3.5 6H12.5M9.5 3.5 12.5 6M12.5 10.5H3.5M6.5 13 3.5 10.5',
  noise: 'M2.5 8 5 4.5 8 11.5 11 4.5 13.5 8',
  declared: 'M4 4.5H12M4 8H12M4 11.5H9',
  circuit: 'M2 10.5H5.5L11 5.5M10.5 10.5H14',
}

/** Shows a verdict as an icon and a word, so that neither colour nor shape is needed to read it. */
export function StandingChip({ of }: { readonly of: Standing }) {
  return <Chip name={of} {...STANDINGS[of]} />
}

export function StateChip({ of }: { readonly of: DifferenceState }) {
  return <Chip name={of} {...STATES[of]} />
}

function Chip({ name, word, meaning }: { readonly name: string; readonly word: string; readonly meaning: string }) {
  return (
    <span class={`chip is-${name}`} title={meaning}>
      <Icon name={name} />
      {word}
    </span>
  )
}

export function Icon({ name }: { readonly name: string }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={SHAPES[name]} />
    </svg>
  )
}
