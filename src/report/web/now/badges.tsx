import type { InForce } from '../../in-force.ts'
import { effectOn, type RuleEffect } from '../../next-step/effect.ts'
import { percentText } from '../format.ts'
import { Icon } from '../verdict.tsx'
import { ModeTag } from './mode-tag.tsx'
import { PhaseChip } from './rollouts.tsx'

interface Props {
  readonly operation: string
  readonly now: InForce
}

/** Says what is in force for one operation: its mode, the share that another mode gets, and an open circuit. */
export function Badges({ operation, now }: Props) {
  const { rules, circuit } = effectOn(operation, now)
  return (
    <span class="badges">
      {[...rules].reverse().map((rule) => (
        <Part key={rule.rule ?? 'default'} rule={rule} />
      ))}
      {circuit !== undefined && (
        <span class="chip is-circuit" title={circuit}>
          <Icon name="circuit" />
          Circuit open
        </span>
      )}
    </span>
  )
}

function Part({ rule: { allClients, mode, share } }: { readonly rule: RuleEffect }) {
  return (
    <span class="badge-part">
      {!allClients && 'some clients '}
      <ModeTag mode={mode} />
      {share && (
        <>
          {' '}
          {percentText(share.percent)} <ModeTag mode={share.mode} />
          {share.rollout && <PhaseChip rollout={share.rollout} />}
          {share.percent < share.wanted && <span class="quiet"> of {percentText(share.wanted)}</span>}
        </>
      )}
    </span>
  )
}
