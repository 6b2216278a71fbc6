import type { RolloutStatus } from '../../src/modes/rollout/rollout-status.ts'
import type { InForce } from '../../src/report/in-force.ts'

/** What a proxy in mode diff-v1 says of itself, with these members replaced. */
export function inForce(members: Partial<InForce> = {}): InForce {
  return {
    ...{ rules: { default: 'diff-v1', rules: [], testers: [] }, version: 1, tag: 'a-1', by: { source: 'start' }, at: 0 },
    ...{ startedAt: 0, rollouts: [], circuits: {}, v1First: [], hasV1: true },
    ...members,
  }
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
