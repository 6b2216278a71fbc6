import { ANONYMOUS, type Identity, identify } from '../../serve/request.ts'
import type { Mode, RequestEnd, Sides } from '../../serve/sides.ts'
import { addAgent, createUnknownUses, productOf, type RequestKind, type SampledKind } from '../clients.ts'
import type { TrafficEntry } from '../records/record.ts'
import { callerOf } from './journal.ts'
import type { Latencies } from './latency.ts'
import type { ModesSettings } from './modes.ts'
import type { PagingSides } from './select.ts'
import type { Accepted } from './serve.ts'

type Counted = Omit<TrafficEntry, 'at' | 'calls' | 'requests' | 'agents'> & {
  calls: number
  agents?: Set<string>
  requests?: (SampledKind & { samples: number })[]
}

/** Counts which caller uses which operation. Records calls as sums: one line for each call would outnumber the comparisons. */
export function createTraffic(
  { journal, v1, rollouts, kindOf, subjects, now }: ModesSettings,
  accepted: Accepted,
  pagingSides: PagingSides,
  latencies: Latencies,
) {
  const { inventory, recorder, tallies } = journal
  const nameOf = { client: createUnknownUses(), stranger: createUnknownUses() }
  /** By caller, operation, and mode with protocol. */
  const since = new Map<string, Map<string, Map<string, Counted>>>()
  /** Returns a function that takes the parameters of the request, if they are worth a look. */
  const use = (who: Identity, operation: string, mode: Mode, protocol: RequestEnd['protocol'], agent: RequestEnd['agent']) => {
    const { caller } = who
    const isWorthALook = inventory.use(subjects ? who : { caller }, { operation, mode, protocol, at: now() })
    const way = protocol === undefined ? mode : `${mode} ${protocol}`
    let counted = since.get(caller)?.get(operation)?.get(way)
    if (!counted) {
      counted = { kind: 'traffic', ...callerOf(who, subjects), operation, mode, ...(protocol !== undefined && { protocol }), calls: 0 }
      within(within(since, caller), operation).set(way, counted)
    }
    counted.calls += 1
    return isWorthALook ? lookFor(counted, agent) : undefined
  }
  const useOfStranger = (operation: string) => {
    inventory.stranger(operation)
    // No caller without a credential is ever accepted, so that no client has this name.
    const ways = within(within(since, ANONYMOUS), operation)
    const counted = ways.get('v1') ?? { kind: 'traffic', caller: ANONYMOUS, operation, mode: 'v1', stranger: true, calls: 0 }
    ways.set('v1', { ...counted, calls: counted.calls + 1 })
  }
  const lookFor = (counted: Counted, agent: RequestEnd['agent']): ReturnType<Sides['used']> => {
    const { caller, operation } = counted
    const product = agent === undefined ? undefined : productOf(agent)
    if (product !== undefined) {
      inventory.agent(caller, product)
      counted.agents ??= new Set()
      addAgent(counted.agents, product)
    }
    return (described, request) => {
      const kind = kindOf(described, request)
      inventory.look(caller, operation, kind)
      addTo(counted, kind)
    }
  }
  /**
   * Counts a finished request to an operation of the tables. It returns a `KeepRequest` if the parameters of the request are worth one: those
   * of strangers and of refused requests never are.
   */
  const used: Sides['used'] = (choice, operation, { refused, unkept, by, started, url = '', protocol, agent }) => {
    const { credential, caller, mode } = choice
    if (!accepted.has(credential)) {
      inventory.stranger(operation.id)
      return undefined
    }
    if (unkept) tallies.uncompared(operation.id, unkept, true)
    if (refused) return undefined
    // Without v1, one side answers everything.
    if (v1) {
      if (operation.paging) pagingSides.note(by, operation, url, caller)
      if (rollouts.areRunning) rollouts.used(choice, operation.id, by)
      if (latencies.areWatched && started !== undefined) latencies.see(choice, operation.id, started)
    }
    return use(choice, operation.id, mode, protocol, agent)
  }
  return {
    used,
    /**
     * Counts a request that v1 answered well at a path that no table has. Such a path may need no credential, so its answer accepts no caller:
     * strangers are counted apart, and cannot use up the names of paths that clients call.
     */
    usedUnknown: ((method, path, { authorization, 'user-agent': agent }) => {
      const who = identify(authorization)
      if (accepted.has(who.credential)) use(who, nameOf.client(method, path), 'v1', undefined, agent)
      else useOfStranger(nameOf.stranger(method, path))
    }) satisfies Sides['usedUnknown'],
    /** Records the counts since the last flush. */
    flush(): void {
      const at = new Date(now()).toISOString()
      for (const operations of since.values()) {
        for (const ways of operations.values()) {
          for (const { agents, ...counted } of ways.values()) recorder.record({ ...counted, ...(agents && { agents: [...agents] }), at })
        }
      }
      since.clear()
    },
  }
}

/** Kinds of requests in one record. The inventory keeps no more of them. */
const KINDS = 8

function addTo(counted: Counted, kind: RequestKind): void {
  counted.requests ??= []
  const known = counted.requests.find(({ shape }) => shape === kind.shape)
  if (known) known.samples += 1
  else if (counted.requests.length < KINDS) counted.requests.push({ ...kind, samples: 1 })
}

function within<T>(maps: Map<string, Map<string, T>>, key: string): Map<string, T> {
  const known = maps.get(key)
  if (known) return known
  const made = new Map<string, T>()
  maps.set(key, made)
  return made
}
