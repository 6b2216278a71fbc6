import type { IncomingHttpHeaders } from 'node:http'
import { LRUCache } from 'lru-cache'
import type { Operation } from '../mapping/operation.ts'
import type { LegacyAsk } from '../upstream/legacy-ask.ts'
import { type Backend, hasFailed, type Incoming, isRead, type Served } from './backend.ts'
import type { Budget } from './budget.ts'
import { createDeletions } from './deletions.ts'
import { diff } from './diff.ts'
import { fallback } from './fallback.ts'
import { type Identified, type Identity, identify } from './identify.ts'
import { callerOf, type Journal } from './journal.ts'
import { COMPARING, type Mode, SERVED_BY, type Side } from './mode.ts'
import type { Observer } from './observer.ts'
import { createOwnWrites } from './own-writes.ts'
import { isPaged, pageTokenOf } from './page-token.ts'
import { describeRules, type ModeRules, needV1, readModeRules } from './rules.ts'
import { createSelect, MODE_HEADER } from './select.ts'
import { createTraffic } from './traffic.ts'

/** What is decided about a request before it is served. */
export interface Choice extends Identified {
  readonly mode: Mode
}

/** Which side answers what; see `ModeRules`. */
export interface Modes {
  rules(): ModeRules
  /** Puts other rules in force for every request from now on, and closes every circuit; or tells in a sentence why it cannot. */
  change(rules: unknown, source: string): string | undefined
  /** The mode of one request to an operation with a plan. Throws an ApiError for a tester's wish that cannot be granted. */
  choose(operation: Operation, url: string, headers: IncomingHttpHeaders): Choice
  /** Who calls an operation that only v1 can answer. */
  identify(headers: IncomingHttpHeaders): Identified
  /** Counts a request that was served. */
  used(who: Identity, operation: string, mode: Mode): void
  /** Notes that a request may write; the function returned says that it is over. */
  writing(operation: Operation, params: Readonly<Record<string, string>>, caller: string): () => void
  /** Answers in the chosen mode; `translated` answers from v2. */
  serve(mode: Mode, incoming: Incoming, translated: Backend): Promise<Served>
  /** Records what was counted. */
  flush(): void
}

export interface ModesSettings {
  readonly journal: Journal
  /** The v1 side; without it v2 answers everything. */
  readonly v1?: { readonly ask: LegacyAsk; readonly observer: Observer; readonly budget: Budget } | undefined
  readonly subjects: boolean
  readonly now: () => number
}

/** Callers for whom it is remembered which side gave them a page token. */
const PAGING_CALLERS = 10_000

export function createModes(initial: ModeRules, { journal, v1, subjects, now }: ModesSettings): Modes {
  const witnesses = { ownWrites: createOwnWrites(), deletions: createDeletions() }
  const traffic = createTraffic(journal.inventory, journal.recorder, now)
  const pagingSides = new LRUCache<string, Side>({ max: PAGING_CALLERS })
  let rules = initial
  let select = createSelect(rules)

  /** A list that is read page by page stays with the side that began it, whatever the rules say meanwhile. */
  const staying = (mode: Mode, operation: Operation, url: string, caller: string): Mode => {
    if (!isPaged(operation)) return mode
    const key = `${caller} ${operation.id}`
    const side = pageTokenOf(operation, url) === undefined ? undefined : pagingSides.get(key)
    if (side !== undefined && side !== SERVED_BY[mode]) return side
    pagingSides.set(key, SERVED_BY[mode])
    return mode
  }

  return {
    rules: () => rules,
    change(value, source) {
      const read = readModeRules(value)
      if ('problem' in read) return read.problem
      if (!v1 && needV1(read)) return NEEDS_V1
      rules = read
      select = createSelect(rules)
      for (const operation of [...journal.circuit.open().keys()]) journal.circuit.reset(operation)
      journal.note('modes', `${source}: ${describeRules(rules)}`)
      return undefined
    },
    identify: ({ authorization }) => identify(authorization),
    choose(operation, url, headers) {
      const who = identify(headers.authorization)
      const { caller, subject, credential } = who
      if (!v1) return { caller, subject, credential, mode: 'v2' }
      const wish = headers[MODE_HEADER]
      const asked = typeof wish === 'string' ? wish : undefined
      const mode = select({ caller, subject, operation: operation.id, wish: asked, isOpen: journal.circuit.isOpen(operation.id) })
      return { caller, subject, credential, mode: staying(mode, operation, url, caller) }
    },
    used: (who, operation, mode) => traffic.use(callerOf(who, subjects), operation, mode),
    writing(operation, params, caller) {
      if (isRead(operation)) return nothingWritten
      witnesses.deletions.note(operation, params)
      return witnesses.ownWrites.begin(caller)
    },
    serve(mode, incoming, translated) {
      if (!v1) return translated(incoming)
      const legacy: Backend = async ({ raw, client }) => ({ answer: await v1.ask(raw, client), by: 'v1' })
      const v2 = fallback(translated, legacy, v1.budget)
      const answers = SERVED_BY[mode] === 'v1' ? legacy : COMPARING.has(mode) ? v2 : counted(v2, journal)
      return (COMPARING.has(mode) ? diff(answers, mode, v1.observer, witnesses) : answers)(incoming)
    },
    flush: traffic.flush,
  }
}

const nothingWritten = () => {}

export const NEEDS_V1 = 'The modes need a v1 service: set upstream.v1 (CROSSWALK_UPSTREAM_V1), or let v2 answer everything.'

/** Tells the circuit how v2 fared where nothing is compared. */
function counted(v2: Backend, journal: Journal): Backend {
  return async (incoming) => {
    const served = await v2(incoming)
    journal.answered(incoming.operation.id, hasFailed((served.failed ?? served.answer).status))
    return served
  }
}
