import { describeActor } from '../../../../migrate/records/record.ts'
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
  epoch: 'Evidence begins anew',
  conflict: 'One of two changes of modes is lost',
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

/** Reasons that begin with what happened: the rest of the sentence goes on behind the verb. */
const TOLD: readonly (readonly [beginning: RegExp, verb: string])[] = [
  [/^Paused (?=by )/, 'was paused'],
  [/^Resumed (?=by )/, 'was resumed'],
  [/^Promoted (?=by )/, 'was promoted'],
  [/^Aborted (?=by )/, 'was aborted'],
  [/^It begins (?=a)/, 'began'],
  [/^It goes on (?=where )/, 'goes on'],
  [/^It ends: /, 'ended:'],
]

function moveOf(reason: string, from: string | undefined, to = ''): Pick<NoteWords, 'verb' | 'text'> {
  const told = TOLD.find(([beginning]) => beginning.test(reason))
  if (told) return { verb: told[1], text: reason.replace(told[0], '') }
  const [phase = ''] = to.split(' ')
  return { verb: MOVES[phase] ?? (from?.startsWith('running') ? 'advanced' : 'goes on'), text: reason }
}

/** Notes that show what was in force before and after. */
const CHANGES: ReadonlySet<Note['what']> = new Set(['modes', 'rollout', 'conflict'])

export function wordsOf(note: Note): NoteWords {
  const { what, from, to } = note
  const isChange = CHANGES.has(what) && from !== undefined && to !== undefined
  return { ...saidOf(note), ...(isChange && { change: { from, to } }) }
}

/** The texts of some notes begin with their actor, or with the name of the rollout. */
function saidOf({ what, text, by, from, to }: Note): Pick<NoteWords, 'verb' | 'text'> {
  const [, name, reason = ''] = what === 'rollout' ? (/^rollout ([^:]+): (.*)$/s.exec(text) ?? []) : []
  if (name !== undefined) {
    const move = moveOf(reason, from, to)
    return { ...move, verb: `Rollout ${name} ${move.verb}` }
  }
  if (what !== 'modes' || !by) return { verb: VERBS[what], text }
  const actor = describeActor(by)
  return { verb: `${VERBS.modes} by ${actor}`, text: text.replace(`${actor}: `, '') }
}
