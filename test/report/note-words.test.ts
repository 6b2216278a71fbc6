import { expect, it } from 'vitest'
import { wordsOf } from '../../src/admin/web/words.ts'

it.each([
  [{ what: 'circuit', text: 'errors: 3 of 9' }, 'Circuit opened | errors: 3 of 9'],
  [{ what: 'circuit-closed', text: 'the modes changed', from: 'open', to: 'closed' }, 'Circuit closed | the modes changed'],
  ...(
    [
      ['It starts at its first step.', 'began | at its first step.'],
      ['It goes on where the records ended.', 'goes on | where the records ended.'],
      ['It ends: the modes have it no more.', 'ended: | the modes have it no more.'],
      ['Paused by admin port, token ops.', 'was paused | by admin port, token ops.'],
      ['Resumed by admin port.', 'was resumed | by admin port.'],
      ['Promoted by admin port, whatever the evidence says.', 'was promoted | by admin port, whatever the evidence says.'],
      ['Aborted by admin port.', 'was aborted | by admin port.'],
    ] as const
  ).map(([text, said]) => [{ what: 'rollout', text: `rollout iam: ${text}`, to: 'running' }, `Rollout iam ${said}`] as const),
  ...(
    [
      ['running at step 2 of 2 (9 %)', 'advanced'],
      ['held at step 1 of 2 (1 %)', 'is held'],
      ['paused at step 1 of 2 (1 %)', 'paused'],
      ['turned-back at step 1 of 2 (0 %)', 'turned back'],
      ['watching (9 %)', 'took its last step'],
      ['done (9 %)', 'is done'],
      ['aborted at step 1 of 2 (0 %)', 'was aborted'],
      ['ended', 'ended'],
    ] as const
  ).map(
    ([to, verb]) =>
      [{ what: 'rollout', text: 'rollout iam: Why.', from: 'running', to }, `Rollout iam ${verb} | Why. | running → ${to}`] as const,
  ),
  [{ what: 'rollout', text: 'rollout iam: Why.', from: 'held', to: 'running' }, 'Rollout iam goes on | Why. | held → running'],
  [
    { what: 'modes', text: 'admin port, token ops: default: v2 → v1', by: { source: 'admin', token: 'ops' }, from: 'x', to: 'y' },
    'Modes changed by admin port, token ops | default: v2 → v1 | x → y',
  ],
  [{ what: 'modes', text: 'of an older version' }, 'Modes changed | of an older version'],
  [{ what: 'conflict', text: 'why', from: 'x', to: 'y' }, 'One of two changes of modes is lost | why | x → y'],
  [{ what: 'ready', text: 'inside' }, 'Became ready to move | inside'],
] as const)('tells note %# with a verb, and what it changed', (note, said) => {
  const { verb, text, change } = wordsOf({ at: 0, ...note })
  expect([verb, text, ...(change ? [`${change.from} → ${change.to}`] : [])].join(' | ')).toBe(said)
})
