import type { InForce } from '../../src/admin/report/history.ts'
import type { ReportFleet } from '../../src/admin/report/report.ts'
import type { RolloutStatus } from '../../src/migrate/rollout/machine.ts'

/** What a proxy in mode diff-v1 says of itself, with these members replaced. */
export function inForce(members: Partial<InForce> = {}): InForce {
  return {
    ...{ rules: { default: 'diff-v1', rules: [], testers: [] }, version: 1, tag: 'a-1', by: { source: 'start' }, at: 0 },
    ...{ startedAt: 0, rollouts: [], circuits: {}, v1First: [], hasV1: true },
    ...members,
  }
}

/** Three replicas, of which one is silent and behind. */
export const FLEET: ReportFleet = {
  problems: [
    'Replica pod-c-3 has not handed over what it knows; it was last heard from 12.0 s ago.',
    'Replica pod-c-3 had no room for 2 bad observations while the store did not answer; begin a new epoch.',
  ],
  busy: [],
  epoch: { nth: 1, tables: 'aa', at: '2026-03-01T08:00:00.000Z', build: 'v2.7' },
  replicas: [
    { id: 'pod-a-1', isSelf: true, isLeader: false, since: 0, version: 7, behind: 0, waiting: 0, dropped: 0, lost: 0 },
    { id: 'pod-b-2', isSelf: false, isLeader: true, since: 0, version: 7, behind: 0, waiting: 12, dropped: 0, lost: 0 },
    { id: 'pod-c-3', isSelf: false, isLeader: false, since: 0, version: 6, behind: 1, silentSeconds: 12, waiting: 3, dropped: 40, lost: 2 },
  ],
  unread: [{ id: 'pod-d-4' }],
}

export const ROLLOUT: RolloutStatus = {
  ...{
    name: 'iam',
    operations: ['iam.*'],
    reach: ['iam.groups.list'],
    phase: 'running',
    step: 2,
    steps: 5,
    percent: 20,
    since: 0,
    reason: 'It waits for observations.',
  },
  ...{ retriesLeft: 2, heldMs: 60_000, wantedMs: 3_600_000, observed: 12, wanted: 100 },
}
