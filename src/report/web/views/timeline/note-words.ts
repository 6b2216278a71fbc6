import { describeActor } from '../../../../diff/records/actor.ts'
import type { Timeline } from '../../../report.ts'

/** An event of the timeline in words. */
export interface NoteWords {
  /** What happened, with a verb: `Circuit opened`. */
  readonly verb: string
  readonly text: string
  /** What was in force before and after, if the event says so. */
  readonly change?: { readonly from: string; readonly to: string }
}

type Note = Timeline['notes'][number]

const VERBS: Readonly<Record<Note['what'], string>> = {
  modes: 'Modes changed',
  circuit: 'Circuit opened',
  'circuit-closed': 'Circuit closed',
  restart: 'Crosswalk started',
  rollout: 'Rollout moved',
  ready: 'Became ready to move',
  'not-ready': 'Is no longer ready to move',
}

/** What a rollout did, by the first word of the state that it came into. */
const MOVES: Readonly<Record<string, string>> = {
  held: 'is held',
  paused: 'paused',
  'turned-back': 'turned back',
  watching: 'took its last step',
  done: 'is done',
  aborted: 'was aborted',
  ended: 'ended',
}

function movedTo(from: string | undefined, to = ''): string {
  const [phase = ''] = to.split(' ')
  return MOVES[phase] ?? (from === undefined ? 'began' : from.startsWith('running') ? 'advanced' : 'goes on')
}

export function wordsOf({ what, text, by, from, to }: Note): NoteWords {
  // The text of these notes begins with their actor, and with the name of the rollout.
  const [, name, moved] = what === 'rollout' ? (/^rollout ([^:]+): (.*)$/s.exec(text) ?? []) : []
  const actor = what === 'modes' && by ? describeActor(by) : undefined
  const verb =
    name !== undefined ? `Rollout ${name} ${movedTo(from, to)}` : actor !== undefined ? `${VERBS.modes} by ${actor}` : VERBS[what]
  const rest = moved ?? (actor === undefined ? text : text.replace(`${actor}: `, ''))
  const isChange = (what === 'modes' || what === 'rollout') && from !== undefined && to !== undefined
  return { verb, text: rest, ...(isChange && { change: { from, to } }) }
}
