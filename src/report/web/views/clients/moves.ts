import type { Client } from '../../../../migrate/clients.ts'
import { count, many } from '../../format.ts'

/** Whether a client could call v2 itself. */
export const MOVES = {
  today: { word: 'Could move to v2 today', icon: 'inside', meaning: 'v2 has all that it uses, and nothing differed.' },
  mended: {
    word: 'Could move once its mismatches are mended',
    icon: 'inconclusive',
    meaning: 'v2 has all that it uses, but some answers differed.',
  },
  never: { word: 'Needs v1', icon: 'v1-only', meaning: 'It uses something that only v1 has.' },
} as const

export function moveOf({ couldMove, mismatches }: Client): keyof typeof MOVES {
  if (!couldMove) return 'never'
  return mismatches > 0 ? 'mended' : 'today'
}

/** Says in some sentences how many clients could move. */
export function summaryOf(clients: readonly Client[]): string {
  const of = (move: keyof typeof MOVES) => clients.filter((one) => moveOf(one) === move).length
  const [today, mended, never] = [of('today'), of('mended'), of('never')]
  return [
    `${many(today, 'client')} of ${count(clients.length)} could call v2 today.`,
    ...(mended > 0 ? [`${many(mended, 'client')} met mismatches, which must be mended first.`] : []),
    ...(never > 0 ? [`${many(never, 'client')} ${never === 1 ? 'uses' : 'use'} something that only v1 has.`] : []),
  ].join(' ')
}
