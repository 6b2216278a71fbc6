import type { RolloutStatus } from '../../../migrate/rollout/machine.ts'
import { percentText, time } from '../format.ts'
import { ChangeButton } from './change-button.tsx'

type Phase = RolloutStatus['phase']

const PHASES: Readonly<Record<Phase, { readonly word: string; readonly tone: string }>> = {
  running: { word: 'running', tone: 'inside' },
  held: { word: 'held', tone: 'inconclusive' },
  paused: { word: 'paused', tone: 'inconclusive' },
  'turned-back': { word: 'turned back', tone: 'outside' },
  watching: { word: 'watching', tone: 'inside' },
  done: { word: 'done', tone: 'inside' },
  aborted: { word: 'aborted', tone: 'outside' },
}

/** Names a rollout, its step and its phase. */
export function PhaseChip({ rollout: { name, phase, step, steps, reason } }: { readonly rollout: RolloutStatus }) {
  const { word, tone } = PHASES[phase]
  return (
    <span class={`chip is-bare is-${tone}`} title={`${name}: ${reason}`}>
      step {step} of {steps}, {word}
    </span>
  )
}

/** Says where each rollout is, and why. */
export function RolloutList({ rollouts }: { readonly rollouts: readonly RolloutStatus[] }) {
  return (
    <ul>
      {rollouts.map((rollout) => (
        <li key={rollout.name}>
          <strong>{rollout.name}</strong> {percentText(rollout.percent)} <PhaseChip rollout={rollout} />
          <span class="quiet below">
            {rollout.reason} Since {time(rollout.since).slice(0, 16)}.
          </span>
          {GOING.has(rollout.phase) && <ChangeButton label="Pause" change={{ what: 'rollout', name: rollout.name, command: 'pause' }} />}
          {STOPPED.has(rollout.phase) && (
            <ChangeButton
              label={rollout.phase === 'paused' ? 'Resume' : 'Start again'}
              change={{ what: 'rollout', name: rollout.name, command: 'resume' }}
            />
          )}
        </li>
      ))}
    </ul>
  )
}

const GOING: ReadonlySet<Phase> = new Set<Phase>(['running', 'held', 'watching'])
const STOPPED: ReadonlySet<Phase> = new Set<Phase>(['paused', 'turned-back'])
