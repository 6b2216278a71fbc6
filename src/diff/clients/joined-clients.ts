import type { Operation } from '../../tables/operation.ts'
import { type Client, clientOf, type KnownClient, type OperationUse, REST, type Tally } from './client.ts'
import { createKeptUses, emptyUse, type KeptUses } from './kept-uses.ts'
import { createUseOf } from './uses.ts'

/** Adds the clients of proxies that know nothing of each other. The most calls come first. */
export function joinedClients(lists: readonly (readonly Client[])[], operations: readonly Operation[]): readonly Client[] {
  const [first] = lists
  if (first && lists.length === 1) return first
  const useOf = createUseOf(operations)
  const kept = createKeptUses()
  const known = new Map<string, KnownClient>()
  for (const { caller, subject, operations: uses } of lists.flat()) {
    const client = known.get(caller) ?? { subject: undefined, operations: new Map<string, Tally>() }
    known.set(caller, client)
    client.subject ??= subject
    for (const use of uses) addUse(client, use, kept)
  }
  return [...known].flatMap(([caller, client]) => clientOf(caller, client, useOf) ?? []).sort((a, b) => b.calls - a.calls)
}

function addUse({ operations }: KnownClient, use: OperationUse, kept: KeptUses): void {
  const tally: Tally = operations.get(use.operation) ?? {
    ...{ calls: 0, firstSeen: Number.POSITIVE_INFINITY, lastSeen: 0, mismatches: 0, samples: 0 },
    ...{ modes: new Set(), protocols: new Set(), kept: emptyUse() },
  }
  operations.set(use.operation, tally)
  tally.calls += use.calls
  tally.mismatches += use.mismatches
  tally.firstSeen = Math.min(tally.firstSeen, use.firstSeen)
  tally.lastSeen = Math.max(tally.lastSeen, use.lastSeen)
  for (const mode of use.modes) tally.modes.add(mode)
  for (const protocol of use.protocols ?? [REST]) tally.protocols.add(protocol)
  for (const { samples, ...kind } of use.requests ?? []) kept.addKind(tally.kept, kind, samples)
  tally.kept.otherSamples += use.otherRequests ?? 0
  kept.addDifferences(tally.kept, { totals: use.differences ?? [] })
}
