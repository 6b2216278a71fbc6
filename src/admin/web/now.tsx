import { type ComponentChildren, createContext } from 'preact'
import { useContext, useId, useRef, useState } from 'preact/hooks'
import { many } from '../../migrate/evidence/evidence.ts'
import type { ModeRule, ModeRules } from '../../migrate/modes/rules.ts'
import { describeActor } from '../../migrate/records/record.ts'
import type { RolloutStatus } from '../../migrate/rollout/machine.ts'
import { COMPARING, type Mode } from '../../serve/sides.ts'
import { allBackToV1, backToV1, effectOn, usesV2 } from '../report/commands.ts'
import type { InForce } from '../report/history.ts'
import { isServedByV2 } from '../report/next-step.ts'
import type { ReportFleet, ReportReplica } from '../report/report.ts'
import { Chip, hashOf, Icon, Items } from './kit.tsx'
import { ownHeaders } from './live.tsx'
import { duration, isOnlyBusy, sentencesOf, time, troublesOf, unwellIn } from './words.ts'

/** What the page can change. `tag` names the rules that the reader saw. */
type Change =
  | { readonly what: 'modes'; readonly rules: ModeRules; readonly tag: string }
  | { readonly what: 'rollout'; readonly name: string; readonly command: 'pause' | 'resume' }
  | { readonly what: 'circuit'; readonly operation: string }

/** Sends a change to the proxy. Returns undefined, or a sentence that says what is known of it if it was not made. */
async function makeChange(change: Change): Promise<string | undefined> {
  try {
    const answer = await send(change)
    if (answer.ok) return undefined
    const { message = `HTTP ${answer.status}` } = (await answer.json().catch(() => ({}))) as { message?: string }
    // A store that answers too late may have taken the change, and so may a proxy behind a gateway.
    if (answer.status >= 500) return `It is not known whether something was changed: ${message}.`
    return answer.status === 412 ? `Somebody else was faster: ${message}. Nothing was changed.` : `Nothing was changed: ${message}.`
  } catch {
    return 'The proxy cannot be reached, so it is not known whether something was changed. Look at what is active.'
  }
}

function send(change: Change): Promise<Response> {
  const base = { cache: 'no-store', signal: AbortSignal.timeout(10_000) } as const
  const post = (path: string) => fetch(path, { ...base, method: 'POST', headers: ownHeaders() })
  if (change.what === 'rollout') return post(`/rollouts/${encodeURIComponent(change.name)}/${change.command}`)
  if (change.what === 'circuit') return post(`/circuits/${encodeURIComponent(change.operation)}/close`)
  const headers = { ...ownHeaders(), 'content-type': 'application/json', 'if-match': `"${change.tag}"` }
  return fetch('/modes', { ...base, method: 'PUT', headers, body: JSON.stringify(change.rules) })
}

/**
 * Is called after a change, and asks for what is in force. Undefined where the page may change nothing: in a file, on a port without tokens,
 * and with a token that only reads.
 */
export const ChangedContext = createContext<(() => void) | undefined>(undefined)

/** Changes something at once. Nothing is drawn where the page may change nothing. */
function ChangeButton({ label, change }: { readonly label: string; readonly change: Change }) {
  const { mayChange, problem, isBusy, make } = useChange()
  if (!mayChange) return null
  return (
    <>
      <button type="button" disabled={isBusy} onClick={() => void make(change)}>
        {label}
      </button>
      <span role="status" class="wrong">
        {problem}
      </span>
    </>
  )
}

/**
 * Changes something after the reader has confirmed what will happen, which `children` says. What is confirmed is what was in force when the
 * dialog opened.
 */
function ConfirmButton({
  label,
  title,
  change,
  children,
}: {
  readonly label: string
  readonly title: string
  readonly change: Change
  readonly children: ComponentChildren
}) {
  const { mayChange, problem, isBusy, make, forget } = useChange()
  const dialog = useRef<HTMLDialogElement>(null)
  const [shown, setShown] = useState<{ readonly change: Change; readonly children: ComponentChildren } | undefined>(undefined)
  const id = useId()
  if (!mayChange) return null
  const open = () => {
    setShown({ change, children })
    forget()
    dialog.current?.showModal()
  }
  const confirm = async () => {
    if (shown && (await make(shown.change))) dialog.current?.close()
  }
  return (
    <>
      <button type="button" class="danger" onClick={open}>
        {label}
      </button>
      <dialog ref={dialog} aria-labelledby={id}>
        <h2 id={id}>{title}</h2>
        {shown?.children}
        <p role="alert" class="wrong">
          {problem}
        </p>
        <div class="dialog-buttons">
          <button type="button" onClick={() => dialog.current?.close()}>
            {problem === undefined ? 'Cancel' : 'Close'}
          </button>
          {problem === undefined && (
            <button type="button" class="danger is-filled" disabled={isBusy} onClick={() => void confirm()}>
              {label}
            </button>
          )}
        </div>
      </dialog>
    </>
  )
}

function useChange() {
  const changed = useContext(ChangedContext)
  const [problem, setProblem] = useState<string | undefined>(undefined)
  const [isBusy, setBusy] = useState(false)
  const make = async (change: Change): Promise<boolean> => {
    setBusy(true)
    const said = await makeChange(change)
    setBusy(false)
    setProblem(said)
    changed?.()
    return said === undefined
  }
  return { mayChange: changed !== undefined, problem, isBusy, make, forget: () => setProblem(undefined) }
}

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

/** Closes the open circuit of an operation, after a confirmation. */
export function CircuitClose({ operation, now }: { readonly operation: string; readonly now: InForce }) {
  if (now.circuits[operation] === undefined) return null
  return (
    <ConfirmButton label="Close its circuit" title={`Close the circuit: ${operation}`} change={{ what: 'circuit', operation }}>
      <ul>
        <li>The share that its rule asks for is active again from the next request on.</li>
        <li>What was counted for the circuit starts again. Evidence stays.</li>
        <li>A circuit that turned back a rollout stays open: resume that.</li>
      </ul>
    </ConfirmButton>
  )
}

/** Lets v1 answer everything again, after a confirmation. */
function AllBack({ now }: { readonly now: InForce }) {
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
        <li>Comparison continues, and clients get v1's answers.</li>
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

/** What else ends with a way back. `unless` says which circuits stay open. */
function Closing({ now: { circuits, rules }, unless }: { readonly now: InForce; readonly unless: string }) {
  return (
    <>
      {Object.keys(circuits).map((operation) => (
        <li key={operation}>
          The circuit of {operation} closes{unless}.
        </li>
      ))}
      {rules.testers.length > 0 && <li>Testers may still choose v2 by a header.</li>}
    </>
  )
}

const MEANINGS: Readonly<Record<Mode, string>> = {
  v1: 'v1 answers',
  v2: 'v2 answers',
  'diff-v1': 'v1 answers, and v2 is compared',
  'diff-v2': 'v2 answers, and v1 is compared',
}

/** Names a mode. Modes in which v2 answers stand out. */
function ModeTag({ mode }: { readonly mode: Mode }) {
  return (
    <code class={`mode is-${mode}`} title={MEANINGS[mode]}>
      {mode}
    </code>
  )
}

/** How each phase is shown, and what a person may do in it. */
const PHASES: Readonly<
  Record<RolloutStatus['phase'], { readonly word: string; readonly tone: string; readonly command?: 'pause' | 'resume' }>
> = {
  waiting: { word: 'waiting for the store', tone: 'inconclusive' },
  running: { word: 'running', tone: 'inside', command: 'pause' },
  held: { word: 'held', tone: 'inconclusive', command: 'pause' },
  paused: { word: 'paused', tone: 'inconclusive', command: 'resume' },
  'turned-back': { word: 'turned back', tone: 'outside', command: 'resume' },
  watching: { word: 'watching', tone: 'inside', command: 'pause' },
  done: { word: 'done', tone: 'inside' },
  aborted: { word: 'aborted', tone: 'outside' },
}

/** Names a rollout, its step and its phase. */
function PhaseChip({ rollout: { name, phase, step, steps, reason } }: { readonly rollout: RolloutStatus }) {
  const { word, tone } = PHASES[phase]
  return (
    <span class={`chip is-bare is-${tone}`} title={`${name}: ${reason}`}>
      step {step} of {steps}, {word}
    </span>
  )
}

/** Says where a rollout is, and why. */
function Rollout({ rollout }: { readonly rollout: RolloutStatus }) {
  const { name, percent, phase, reason, since } = rollout
  const { command } = PHASES[phase]
  return (
    <li>
      <strong>{name}</strong> {percent} % <PhaseChip rollout={rollout} />
      <span class="quiet below">
        {reason} Since {time(since).slice(0, 16)}.
      </span>
      {command && (
        <ChangeButton key={command} label={command === 'pause' ? 'Pause' : 'Resume'} change={{ what: 'rollout', name, command }} />
      )}
    </li>
  )
}

/** Says what is in force for one operation: its mode, the share that another mode gets, and an open circuit. */
export function Badges({ operation, now }: { readonly operation: string; readonly now: InForce }) {
  const { rules, circuit } = effectOn(operation, now)
  return (
    <span class="badges">
      {[...rules].reverse().map(({ rule = 'default', allClients, mode, share }) => (
        <span key={rule} class="badge-part">
          {!allClients && 'some clients '}
          <ModeTag mode={mode} />
          {share && (
            <>
              {' '}
              {share.percent} % <ModeTag mode={share.mode} />
              {share.rollout && <PhaseChip rollout={share.rollout} />}
              {share.percent < share.wanted && <span class="quiet"> of {share.wanted} %</span>}
            </>
          )}
        </span>
      ))}
      {circuit !== undefined && <Chip name="circuit" word="Circuit open" meaning={circuit} />}
    </span>
  )
}

/** Says what is missing in the figures of a fleet, and which replica lacks what. The announcer tells it to screen readers once. */
export function FleetBanner({ fleet }: { readonly fleet: ReportFleet | undefined }) {
  if (!fleet) return null
  const sentences = sentencesOf(fleet)
  if (sentences.length === 0) return null
  const isBusy = isOnlyBusy(fleet)
  const title = fleet.problems.length > 0 ? 'These are not the figures of all replicas.' : 'A replica has a problem.'
  return (
    <section class={isBusy ? 'banner' : 'banner is-fleet'} aria-label="What is missing">
      <div>
        <strong>{isBusy ? 'Comparisons are under way, so these figures are some seconds old.' : title}</strong>
        <Items of={sentences} />
      </div>
    </section>
  )
}

/** Says how many processes share the store, and whether one is missing. */
function ReplicaChip({ fleet }: { readonly fleet: ReportFleet }) {
  const unwell = unwellIn(fleet).length
  const all = many(fleet.replicas.length + fleet.unread.length, 'replica')
  if (unwell === 0) return <span class="strip-item">{all}</span>
  return (
    <span class="chip is-bare is-outside">
      {unwell} of {all} not well
    </span>
  )
}

/** Lists the processes that share the store, and what each does and lacks. */
function Replicas({ fleet: { replicas, unread, epoch } }: { readonly fleet: ReportFleet }) {
  return (
    <section>
      <h2>Replicas</h2>
      <ul>
        {replicas.map((one) => (
          <Replica key={one.id} replica={one} />
        ))}
        {unread.map(({ id, silentSeconds }) => (
          <li key={id}>
            <strong>{id}</strong> <span class="chip is-bare is-outside">speaks a newer version</span>
            <span class="quiet below">
              Its heartbeat cannot be read, {heardOf(silentSeconds)}. What it has seen is known once it has handed it over.
            </span>
          </li>
        ))}
      </ul>
      <p class="quiet">
        {epoch.at === undefined ? 'No epoch yet' : `Epoch ${epoch.nth} since ${time(Date.parse(epoch.at)).slice(0, 16)}`}
        {epoch.build !== undefined && `, v2 build ${epoch.build}`}. Evidence of an earlier epoch does not count.
      </p>
    </section>
  )
}

function Replica({ replica }: { readonly replica: ReportReplica }) {
  const { id, isSelf, isLeader, since, version, waiting, silentSeconds } = replica
  const troubles = troublesOf(replica)
  const roles = [...(isSelf ? ['this one'] : []), ...(isLeader ? ['leader'] : [])]
  return (
    <li>
      <strong>{id}</strong> {roles.length > 0 && <span class="quiet">({roles.join(', ')}) </span>}
      {troubles.length === 0 && <span class="chip is-bare is-inside">up to date</span>}
      {troubles.map((trouble) => (
        <span key={trouble}>
          <span class="chip is-bare is-outside">{trouble}</span>{' '}
        </span>
      ))}
      <span class="quiet below">
        Modes version {version}, {heardOf(silentSeconds)},{' '}
        {waiting === 0 ? 'nothing waits' : `${many(waiting, 'observation')} ${waiting === 1 ? 'waits' : 'wait'}`}. Since{' '}
        {time(since).slice(0, 16)}.
      </span>
    </li>
  )
}

function heardOf(silentSeconds: number | undefined): string {
  return silentSeconds === undefined ? 'last heard from just now' : `last heard from ${duration(silentSeconds * 1_000)} ago`
}

/** Rules that are named before the strip is opened. */
const NAMED = 3

/** Says what is in force now in one line. Opened, it says it all. */
export function Strip({ now, fleet }: { readonly now: InForce; readonly fleet: ReportFleet | undefined }) {
  const { rules, testers } = now.rules
  const mayChange = useContext(ChangedContext) !== undefined
  const circuits = Object.entries(now.circuits)
  return (
    <section class="strip" aria-label="Active now">
      <details>
        <summary>
          <span class="strip-name">Active</span>
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
            {!mayChange && <p class="quiet">You cannot change anything here: that takes a proxy with admin.token, and the token.</p>}
          </section>
          {now.rollouts.length > 0 && (
            <section>
              <h2>Rollouts</h2>
              <ul>
                {now.rollouts.map((rollout) => (
                  <Rollout key={rollout.name} rollout={rollout} />
                ))}
              </ul>
            </section>
          )}
          <section>
            <h2>Circuits</h2>
            <p class="quiet">
              {circuits.length === 0 && 'No circuit is open. '}A circuit opens when v2 answers an operation wrongly too often; its canary
              share is then 0.
            </p>
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

/** One rule. If it `isShort`, it names the first pattern alone. */
function Rule({ rule, now, isShort = false }: { readonly rule: ModeRule; readonly now: InForce; readonly isShort?: boolean }) {
  const { operations, clients, mode, canary } = rule
  const rollout = now.rollouts.find(({ name }) => name === canary?.rollout?.name)
  const [first, ...others] = [operations].flat()
  return (
    <>
      <code>{isShort ? first : [first, ...others].join(' ')}</code>
      {isShort && others.length > 0 && ` +${others.length}`}
      {clients !== '*' && ' for some clients'} <ModeTag mode={mode} />
      {canary && (
        <>
          , {canary.percent ?? rollout?.percent ?? 0} % <ModeTag mode={canary.mode} />
          {rollout && <PhaseChip rollout={rollout} />}
        </>
      )}
    </>
  )
}
