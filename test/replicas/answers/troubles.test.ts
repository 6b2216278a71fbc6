import { expect, it } from 'vitest'
import { changesSaid, isOnlyBusy, sentencesOf } from '../../../src/admin/web/poll.ts'
import { reportOf } from '../../report/given.ts'
import { FLEET } from '../../report/in-force-of.ts'

it('says once that a replica is silent', () => {
  expect(sentencesOf(FLEET)).toEqual([...FLEET.problems, 'Replica pod-c-3: 1 version of the modes behind, 40 clean observations dropped.'])
  expect(sentencesOf({ ...FLEET, problems: [] })).toEqual([
    'Replica pod-c-3: silent, 1 version of the modes behind, 2 wrong observations lost, 40 clean observations dropped.',
  ])
})

it('names a replica of other services', () => {
  const [one] = FLEET.replicas
  const replicas = one ? [{ ...one, otherServices: ['v2', 'v1'] }] : []
  expect(sentencesOf({ ...FLEET, problems: [], replicas })).toEqual(['Replica pod-a-1: another upstream.v2, another upstream.v1.'])
})

it('tells a screen reader of a replica that nobody can read', async () => {
  const report = await reportOf([])
  const [before, after] = [
    { ...report, fleet: { ...FLEET, unread: [] } },
    { ...report, fleet: FLEET },
  ]
  expect(changesSaid(before, after)).toEqual(['Replica pod-d-4 is not well.'])
})

it('tells a fleet that is busy from one that is not well', () => {
  const busy = ['Replica pod-a-1 still compares.']
  const [well] = FLEET.replicas
  const fleet = { ...FLEET, busy, problems: busy, replicas: well ? [well] : [], unread: [] }
  expect(isOnlyBusy(fleet)).toBe(true)
  expect(isOnlyBusy({ ...fleet, problems: [...busy, ...FLEET.problems] })).toBe(false)
  expect(isOnlyBusy({ ...fleet, replicas: FLEET.replicas })).toBe(false)
})
