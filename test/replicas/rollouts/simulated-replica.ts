import { evidenceChanges, evidenceNames, type TimedObservation, tallyChanges } from '../../../src/fleet/evidence.ts'
import { createLeader } from '../../../src/fleet/fleet.ts'
import { createRolloutsPart } from '../../../src/fleet/rollouts/rollouts.ts'
import type { Store, StoreChange } from '../../../src/fleet/store/store.ts'
import { createCircuit } from '../../../src/migrate/evidence/circuit.ts'
import { createEvidence } from '../../../src/migrate/evidence/evidence.ts'
import { createNotes, createSaveOrder } from '../../../src/migrate/modes/journal.ts'
import type { ModeRules } from '../../../src/migrate/modes/rules.ts'
import { createSelect } from '../../../src/migrate/modes/select.ts'
import type { Entry } from '../../../src/migrate/records/record.ts'
import { createRollouts } from '../../../src/migrate/rollout/rollouts.ts'
import type { RolloutCommand } from '../../../src/migrate/rollout/run.ts'
import { SERVED_BY } from '../../../src/serve/sides.ts'
import { callerAt, OPERATIONS, PERSON } from '../../modes/rollout/simulated.ts'
import type { ManualClocks } from '../../stage/manual-clocks.ts'
import { cuttable, fleetOf } from '../cuttable.ts'

const NAMES = evidenceNames({ nth: 0, hash: 'tables' })

/** Rules and their version. */
interface Rules {
  readonly rules: ModeRules
  readonly version: number
}

/** A replica with real circuits, real evidence and clients that only count. It begins where `earlier` entries ended. */
export async function simulateReplica(id: string, inner: Store, clocks: ManualClocks, given: Rules, earlier: readonly Entry[] = []) {
  const { now, ticks } = clocks
  const entries: Entry[] = []
  const recorder = {
    record: (entry: Entry) => void entries.push(JSON.parse(JSON.stringify(entry)) as Entry),
    problem: () => replica.problem,
    comparisons: () => [],
    dropped: () => 0,
    close: async () => {},
  }
  const evidence = createEvidence(now)
  const circuit = createCircuit(now, () => false)
  const order = createSaveOrder()
  const notes = createNotes({ recorder, now, order, replica: id })
  const sources = { operations: OPERATIONS, canBeJudged: () => true, now, ticks, isShared: true }
  const rollouts = createRollouts(given.rules, { journal: { circuit, evidence, recorder, order, ...notes }, ...sources })
  const cut = cuttable(inner)
  const fleet = fleetOf(id, cut.store, clocks)
  const leader = createLeader({ id, ticks })
  let { rules, version } = given
  const failed = (error: unknown) => void replica.failures.push(error)
  const part = createRolloutsPart({
    fleet,
    leader,
    rollouts,
    modesVersion: () => version,
    evidenceName: () => NAMES.evidence,
    clocks,
    failed,
  })
  fleet.add(leader)
  fleet.add(part)
  const observed: TimedObservation[] = []
  const refused: StoreChange[] = []
  fleet.add({
    changes: () => [...refused.splice(0), ...observed.splice(0).flatMap((one) => evidenceChanges(one, NAMES))],
    readings: () => [],
  })
  let select = createSelect(rollouts.inForce(rules))
  const follow = () => {
    select = createSelect(rollouts.inForce(rules))
  }
  rollouts.onMove(follow)
  let asked = 0
  const ends: (() => void)[] = []
  const replica = {
    ...{ id, cut, fleet, leader, rollouts, entries, circuit },
    problem: undefined as string | undefined,
    failures: [] as unknown[],
    /** The caller asks something new, v2 or v1 answers as the share says, and both are compared. */
    ask(nth: number, { isWrong = false, shape = `${id} ${asked}`, operation = 'iam.a' } = {}) {
      asked += 1
      const client = { caller: callerAt(nth), subject: undefined }
      const mode = select({ ...client, operation, circuit: circuit.isOpen(operation) ? 'open' : 'closed' })
      rollouts.used({ ...client, mode, round: rollouts.round() }, operation, SERVED_BY[mode])
      const comparison = { operation, caller: client.caller, shape, outcome: isWrong ? 'mismatch' : 'match', mode } as const
      const turned = [circuit.answered(operation, false), circuit.compared(operation, isWrong)].find(Boolean)
      if (evidence.observe(comparison)) observed.push({ ...comparison, at: now() })
      rollouts.compared(client, comparison)
      if (turned) notes.note({ what: 'circuit', text: turned.reason, operation })
      return mode
    },
    /** v2 refuses so many writes of `iam.a`, and nobody knows whether v1 would. */
    refuse: (count: number) => void refused.push(...tallyChanges('iam.a', { uncompared: { writeRefused: count } }, now(), NAMES)),
    steer: (command: RolloutCommand) => part.steer('iam', command, PERSON),
    place() {
      const [{ phase, step, percent } = { phase: 'ended', step: 0, percent: 0 }] = rollouts.all()
      return `${phase} ${step} ${percent}`
    },
    share: () => rollouts.all()[0]?.percent ?? 0,
    reason: () => rollouts.all()[0]?.reason ?? '',
    moves: () => entries.flatMap((entry) => (entry.kind === 'note' && entry.what === 'rollout' ? [entry.to] : [])),
    /** Puts other rules in force: at the replica where a person put them, or where they are taken over. */
    change(changed: ModeRules, isOwn: boolean) {
      rules = changed
      version += 1
      if (isOwn) rollouts.change(changed, PERSON)
      else rollouts.adopt(changed)
      follow()
    },
    /** Ends without a word. */
    kill() {
      for (const end of ends.splice(0)) end()
      cut.cut = 'requests'
    },
  }
  for (const entry of earlier) rollouts.entry(entry)
  rollouts.start()
  await fleet.start()
  ends.push(
    clocks.repeat(() => {
      rollouts.look()
      part.look()
    }, 1000),
  )
  return replica
}

export type SimulatedReplica = Awaited<ReturnType<typeof simulateReplica>>
