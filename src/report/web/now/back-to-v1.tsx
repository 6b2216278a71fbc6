import { COMPARING } from '../../../serve/sides.ts'
import type { InForce } from '../../in-force.ts'
import { allBackToV1, backToV1, usesV2 } from '../../next-step/changed-rules.ts'
import { effectOn } from '../../next-step/effect.ts'
import { isServedByV2 } from '../../next-step/next-step.ts'
import { many } from '../format.ts'
import { ConfirmButton } from './change-button.tsx'

/** Lets v1 answer one operation again, after a confirmation. Nothing is drawn if v2 answers none of its clients. */
export function OperationBack({ operation, now }: { readonly operation: string; readonly now: InForce }) {
  const effect = effectOn(operation, now)
  if (!now.hasV1 || !isServedByV2(effect)) return null
  const rules = backToV1(now.rules, operation, effect)
  const isCompared = rules.rules.some((rule) => rule.operations === operation && COMPARING.has(rule.mode))
  return (
    <ConfirmButton label="Back to v1" title={`Back to v1: ${operation}`} change={{ what: 'modes', rules, tag: now.tag }}>
      <ul>
        <li>From the next request on, v1 answers every client of {operation}.</li>
        <li>{isCompared ? 'v2 is still asked, and its answers are compared.' : 'v2 is no longer asked.'}</li>
        <li>All other rules stay as they are.</li>
        <Closing now={now} unless=", unless a rollout needs it open" />
      </ul>
    </ConfirmButton>
  )
}

/** Lets v1 answer everything again, after a confirmation. */
export function AllBack({ now }: { readonly now: InForce }) {
  if (!now.hasV1 || !usesV2(now.rules)) return null
  const ending = now.rollouts.filter(({ phase }) => phase !== 'aborted').map(({ name }) => name)
  return (
    <ConfirmButton
      label="Everything back to v1"
      title="Everything back to v1"
      change={{ what: 'modes', rules: allBackToV1(now.rules), tag: now.tag }}
    >
      <ul>
        <li>From the next request on, v1 answers every client of every operation.</li>
        <li>What is compared now is compared further, with v1's answers for the clients.</li>
        {now.rules.rules.some(({ canary }) => canary) && <li>All shares end.</li>}
        {ending.length > 0 && (
          <li>
            {many(ending.length, 'rollout')} {ending.length === 1 ? 'ends' : 'end'}: {ending.join(', ')}.
          </li>
        )}
        <Closing now={now} unless="" />
      </ul>
    </ConfirmButton>
  )
}

interface ClosingProps {
  readonly now: InForce
  /** Says which circuits stay open. */
  readonly unless: string
}

function Closing({ now: { circuits, rules }, unless }: ClosingProps) {
  const open = Object.keys(circuits)
  return (
    <>
      {open.map((operation) => (
        <li key={operation}>
          The circuit of {operation} closes{unless}.
        </li>
      ))}
      {rules.testers.length > 0 && <li>Testers may still choose v2 by a header.</li>}
    </>
  )
}
