import { Counter, Gauge, type Registry } from 'prom-client'
import type { Notes } from '../../../migrate/modes/journal.ts'
import type { Modes } from '../../../migrate/modes/modes.ts'
import type { OperationMode } from '../../../migrate/modes/select.ts'
import type { Note } from '../../../migrate/records/record.ts'
import type { RolloutPhase } from '../../../migrate/rollout/plan.ts'

export interface ModesMetricsSources {
  readonly modes: Pick<Modes, 'state' | 'rollouts'>
  /** The modes in force of every operation that v2 can serve. */
  readonly currentModes: () => readonly OperationMode[]
  readonly onNote: Notes['onNote']
}

const WHATS: readonly Note['what'][] = [
  'modes',
  'circuit',
  'circuit-closed',
  'rollout',
  'ready',
  'not-ready',
  'restart',
  'epoch',
  'conflict',
]

const PHASES: readonly RolloutPhase[] = ['running', 'held', 'paused', 'turned-back', 'watching', 'done', 'aborted']

type Rows = readonly (readonly [labels: Record<string, string>, value: number])[]

/** Exposes what is in force, and how often that changed. Labels are operations, modes and the rollouts of the rules: a bounded set. */
export function watchModes({ modes, currentModes, onNote }: ModesMetricsSources, registers: Registry[]): void {
  countNotes(onNote, registers)
  const gauge = (name: string, help: string, labelNames: readonly string[], rows: () => Rows) =>
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      aggregator: 'first',
      collect() {
        this.reset()
        for (const [labels, value] of rows()) this.set(labels, value)
      },
    })
  gauge('crosswalk_modes_version', VERSION, [], () => [[{}, modes.state().version]])
  gauge('crosswalk_modes_drift', DRIFT, [], () => [[{}, modes.state().drift === undefined ? 0 : 1]])
  gauge('crosswalk_mode_info', INFO, ['operation', 'mode', 'canary_mode'], () =>
    currentModes().map(({ operation, mode, canary }) => [{ operation, mode, canary_mode: canary?.mode ?? '' }, 1] as const),
  )
  gauge('crosswalk_canary_share', SHARE, ['operation'], () =>
    currentModes().flatMap(({ operation, canary }) => (canary ? [[{ operation }, canary.percent / 100] as const] : [])),
  )
  gauge('crosswalk_rollout_phase', PHASE, ['rollout', 'phase'], () =>
    modes.rollouts().flatMap((one) => PHASES.map((phase) => [{ rollout: one.name, phase }, one.phase === phase ? 1 : 0] as const)),
  )
}

function countNotes(onNote: Notes['onNote'], registers: Registry[]): void {
  const notes = new Counter({
    name: 'crosswalk_notes_total',
    help: 'Events that changed what the proxy does, or what may be done next, by kind',
    labelNames: ['what'],
    registers,
  })
  // Without a first value of 0, the rate of a counter does not see its first event.
  for (const what of WHATS) notes.inc({ what }, 0)
  onNote(({ what }) => notes.inc({ what }))
}

const VERSION = 'Version of the modes in force: 1 at the start, one more with each change'

const DRIFT = '1 while other modes are in force than the configuration file says'

const INFO = 'The mode of each operation for the clients that no rule names, and that of its canary; always 1'

const SHARE = 'Share of the callers of an operation that get the mode of its canary, 0-1; 0 while its circuit is open'

const PHASE = '1 for the phase that a rollout is in, 0 for the others'
