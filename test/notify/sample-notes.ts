import type { Note } from '../../src/migrate/records/record.ts'

/** A note of each kind, as the proxy makes it; docs/reference/events.md shows the events that they become. */
export const SAMPLES: readonly Omit<Note, 'kind' | 'at' | 'id'>[] = [
  {
    what: 'circuit',
    operation: 'registry.repos.list',
    text: 'errors: 4 of the last 4 answers failed, so at least 10.4 % do; 5 % is allowed, open since 2026-11-26T12:00:00.000Z for rollout registry. Only a person can close it',
    by: { source: 'circuit' },
    from: 'closed',
    to: 'open',
  },
  {
    what: 'circuit-closed',
    operation: 'registry.repos.list',
    text: '0 of 254 answers failed, at most 1.2 % do (allowed: 5 %)',
    by: { source: 'circuit' },
    from: 'open',
    to: 'closed',
  },
  {
    what: 'modes',
    text: 'admin port, token alice, from 127.0.0.1: iam.*: no rule → diff-v2; default: unchanged',
    by: { source: 'admin', token: 'alice', address: '127.0.0.1' },
    from: 'everything else diff-v1',
    to: 'iam.* diff-v2; everything else diff-v1',
    version: 2,
  },
  {
    what: 'rollout',
    rollout: 'iam-reads',
    text: 'rollout iam-reads: 2 operations inside 1 % after 611 observations and 31 min with traffic.',
    by: { source: 'rollout' },
    from: 'running at step 1 of 3 (1 %)',
    to: 'running at step 2 of 3 (10 %)',
  },
  {
    what: 'ready',
    operation: 'iam.groups.list',
    text: 'iam.groups.list: bound 0.0999 % ≤ 0.1 % after 3,282 observations.',
    from: 'inconclusive',
    to: 'inside',
  },
  {
    what: 'not-ready',
    operation: 'iam.groups.list',
    text: 'iam.groups.list: HELD BACK, because its circuit is open. errors: 4 of the last 4 answers failed, so at least 10.4 % do; 5 % is allowed, open since 2026-11-26T12:00:00.000Z for rollout iam. Only a person can close it.',
    from: 'inside',
    to: 'held-back',
  },
  {
    what: 'ready',
    text: 'All 12 operations with traffic have a bound of 0.1 % or less.',
    from: 'not ready',
    to: 'ready',
  },
  { what: 'not-ready', text: 'In the way: iam.groups.list.', from: 'ready', to: 'not ready' },
  {
    what: 'epoch',
    text: 'epoch 2 begins: what was seen before proves nothing any more',
    by: { source: 'admin', token: 'ops', address: '10.0.0.7' },
  },
  {
    what: 'conflict',
    text: 'the store and this replica had different modes of version 4, those of the store win on all replicas: what was put by admin port, token alice is lost',
    from: 'everything else v1',
    to: 'everything else diff-v1',
    version: 4,
  },
  {
    what: 'store-lost',
    text: 'The store lost what it knew of this epoch before 2026-11-26T12:00:00.000Z: older observations are gone, wrong ones among them; begin a new epoch.',
  },
  {
    what: 'clock',
    text: 'the clock of v2 is some 5 min ahead of that of this machine: look at the time service of both machines',
    to: 'differs',
  },
  {
    what: 'acceptance',
    text: 'iam.terms.* may move without proof until 2027-01-31: a lawyer calls it once a year',
    from: 'not accepted',
    to: 'accepted',
    by: { source: 'file', path: 'crosswalk.json' },
  },
  { what: 'restart', text: '3,312 records were read back', by: { source: 'start' } },
]
