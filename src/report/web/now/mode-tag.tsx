import type { Mode } from '../../../serve/sides.ts'

const MEANINGS: Readonly<Record<Mode, string>> = {
  v1: 'v1 answers',
  v2: 'v2 answers',
  'diff-v1': 'v1 answers, and v2 is compared',
  'diff-v2': 'v2 answers, and v1 is compared',
}

/** Names a mode. Modes in which v2 answers stand out. */
export function ModeTag({ mode }: { readonly mode: Mode }) {
  return (
    <code class={`mode is-${mode}`} title={MEANINGS[mode]}>
      {mode}
    </code>
  )
}
