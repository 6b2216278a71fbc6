import { Counter, Gauge, type Registry } from 'prom-client'
import type { Note } from '../../diff/records/record.ts'
import type { Modes } from '../../modes/modes.ts'
import type { Notes } from '../../modes/notes.ts'

export interface ModesMetricsSources {
  readonly modes: Pick<Modes, 'state'>
  readonly onNote: Notes['onNote']
}

const WHATS: readonly Note['what'][] = ['modes', 'circuit', 'circuit-closed', 'rollout', 'ready', 'not-ready', 'restart']

/** Exposes what is in force, and how often that changed. */
export function watchModes({ modes, onNote }: ModesMetricsSources, registers: Registry[]): void {
  const notes = new Counter({
    name: 'crosswalk_notes_total',
    help: 'Events that changed what the proxy does, or what may be done next, by kind',
    labelNames: ['what'],
    registers,
  })
  // Without a first value of 0, the rate of a counter does not see its first event.
  for (const what of WHATS) notes.inc({ what }, 0)
  onNote(({ what }) => notes.inc({ what }))
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read())
      },
    })
  gauge('crosswalk_modes_version', 'Version of the modes in force: 1 at the start, one more with each change', () => modes.state().version)
  gauge('crosswalk_modes_drift', DRIFT, () => (modes.state().drift === undefined ? 0 : 1))
}

const DRIFT = '1 while other modes are in force than the configuration file says'
