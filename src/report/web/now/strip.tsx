import type { ModeRule } from '../../../migrate/modes/rules.ts'
import { describeActor } from '../../../migrate/records/record.ts'
import type { ReportFleet } from '../../fleet/report-fleet.ts'
import type { InForce } from '../../in-force.ts'
import { many, percentText, time } from '../format.ts'
import { hashOf } from '../route.ts'
import { Icon } from '../verdict.tsx'
import { AllBack } from './back-to-v1.tsx'
import { useHands } from './hands.ts'
import { ModeTag } from './mode-tag.tsx'
import { ReplicaChip, Replicas } from './replicas.tsx'
import { PhaseChip, RolloutList } from './rollouts.tsx'

/** Rules that are named before the strip is opened. */
const NAMED = 3

/** Says what is in force now in one line. Opened, it says it all. */
export function Strip({ now, fleet }: { readonly now: InForce; readonly fleet: ReportFleet | undefined }) {
  const { rules, testers } = now.rules
  const hands = useHands()
  const circuits = Object.entries(now.circuits)
  return (
    <section class="strip" aria-label="In force now">
      <details>
        <summary>
          <span class="strip-name">In force</span>
          {circuits.length > 0 && (
            <span class="chip is-circuit">
              <Icon name="circuit" />
              {many(circuits.length, 'circuit')} open
            </span>
          )}
          <span class="strip-item">
            default <ModeTag mode={now.hasV1 ? now.rules.default : 'v2'} />
          </span>
          {now.hasV1 &&
            rules.slice(0, NAMED).map((rule, at) => (
              <span key={at} class="strip-item is-rule">
                <Rule rule={rule} now={now} isShort />
              </span>
            ))}
          {rules.length > NAMED && <span class="strip-item is-rule quiet">and {many(rules.length - NAMED, 'more rule')}</span>}
          {rules.length > 0 && <span class="strip-item is-count">{many(rules.length, 'rule')}</span>}
          {now.drift !== undefined && <span class="chip is-bare is-inconclusive">not as in the file</span>}
          {fleet && <ReplicaChip fleet={fleet} />}
          <span class="strip-changed quiet">{changeOf(now)}</span>
        </summary>
        <div class="strip-more">
          <section>
            <h2>Rules</h2>
            <ol>
              {rules.map((rule, at) => (
                <li key={at}>
                  <Rule rule={rule} now={now} />
                </li>
              ))}
              <li>
                everything else <ModeTag mode={now.rules.default} />
              </li>
            </ol>
            <p class="quiet">
              The first rule that fits decides. {!now.hasV1 && 'There is no v1 service, so v2 answers everything. '}
              {testers.length > 0 && `${many(testers.length, 'client')} may choose a mode by a header.`}
            </p>
            {now.drift !== undefined && <p>{now.drift}</p>}
            <AllBack now={now} />
            {!hands && <p class="quiet">Here nothing can be changed: that takes a proxy with admin.token, and the token.</p>}
          </section>
          {now.rollouts.length > 0 && (
            <section>
              <h2>Rollouts</h2>
              <RolloutList rollouts={now.rollouts} />
            </section>
          )}
          <section>
            <h2>Circuits</h2>
            {circuits.length === 0 && <p class="quiet">No circuit is open.</p>}
            <ul>
              {circuits.map(([operation, reason]) => (
                <li key={operation}>
                  <a href={hashOf({ view: 'operation', operation })}>{operation}</a> {reason}
                </li>
              ))}
            </ul>
          </section>
          {fleet && <Replicas fleet={fleet} />}
        </div>
      </details>
    </section>
  )
}

function changeOf({ version, by, at }: InForce): string {
  const when = time(at).slice(0, 16)
  return version === 1 ? `since the start, ${when}` : `changed ${when} by ${describeActor(by)}`
}

interface RuleProps {
  readonly rule: ModeRule
  readonly now: InForce
  /** Names the first pattern alone. */
  readonly isShort?: boolean
}

function Rule({ rule: { operations, clients, mode, canary }, now, isShort = false }: RuleProps) {
  const rollout = now.rollouts.find(({ name }) => name === canary?.rollout?.name)
  const [first, ...others] = [operations].flat()
  return (
    <>
      <code>{isShort ? first : [first, ...others].join(' ')}</code>
      {isShort && others.length > 0 && ` +${others.length}`}
      {clients !== '*' && ' for some clients'} <ModeTag mode={mode} />
      {canary && (
        <>
          , {percentText(canary.percent ?? rollout?.percent ?? 0)} <ModeTag mode={canary.mode} />
          {rollout && <PhaseChip rollout={rollout} />}
        </>
      )}
    </>
  )
}
