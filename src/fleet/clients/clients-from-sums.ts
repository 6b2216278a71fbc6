import {
  emptyUse,
  type KeptUses,
  type KnownClient,
  REST,
  type RequestKind,
  type SeenDifference,
  type Tally,
} from '../../migrate/clients.ts'
import type { Sums } from '../../store/store-change.ts'
import { readText } from '../read-text.ts'
import { fieldOfParts, partsOfField } from './client-names.ts'
import { kindSchema } from './kind-schema.ts'

/** Subjects of clients, and kinds of their requests, by field. */
export type ClientTexts = Readonly<Record<string, string>>

/** Returns clients from what the store holds of them, as if one inventory had counted them. */
export function clientsFromSums(sums: Sums, texts: ClientTexts, kept: KeptUses): ReadonlyMap<string, KnownClient> {
  const clients = new Map<string, KnownClient>()
  // Fields come in any order, and which kinds are kept must not depend on it.
  const fields = Object.entries(sums).sort(([one, a], [other, b]) => b - a || (one < other ? -1 : 1))
  for (const [field, count] of fields) {
    const [what = '', caller = '', operation = '', rest = ''] = partsOfField(field, 4)
    const tally = tallyIn(clients, caller, operation)
    if (what === 'samples') kept.addKind(tally.kept, kindIn(texts, caller, operation, rest), count)
    else if (what === 'place') kept.addDifferences(tally.kept, { totals: [placeIn(rest, count)] })
    else countIn(tally, what, count, rest)
  }
  for (const [field, text] of Object.entries(texts)) {
    const [what, caller = ''] = partsOfField(field, 2)
    const client = what === 'subject' ? clients.get(caller) : undefined
    if (client) client.subject = text
  }
  return clients
}

function countIn(tally: Tally, what: string, count: number, rest: string): void {
  if (what === 'first') tally.firstSeen = count
  if (what === 'last') tally.lastSeen = count
  if (what === 'mismatches') tally.mismatches = count
  if (what === 'others') tally.kept.otherSamples += count
  if (what !== 'calls') return
  const [mode = '', protocol] = rest.split('\n')
  tally.calls += count
  tally.modes.add(mode)
  tally.protocols.add(protocol || REST)
}

function kindIn(texts: ClientTexts, caller: string, operation: string, shape: string): RequestKind {
  const text = texts[fieldOfParts('kind', caller, operation, shape)]
  const { path, query, members, unknown } = (text === undefined ? undefined : readText(kindSchema, text)) ?? { path: [], query: [] }
  return { shape, path, query, ...(members && { members }), ...(unknown !== undefined && { unknown }) }
}

function placeIn(text: string, count: number): SeenDifference {
  const [kind = '', code = '', where = ''] = partsOfField(text, 3)
  return { kind: kind as SeenDifference['kind'], where, count, ...(code !== '' && { code }) }
}

function tallyIn(clients: Map<string, KnownClient>, caller: string, operation: string): Tally {
  const client = clients.get(caller) ?? { subject: undefined, operations: new Map<string, Tally>() }
  clients.set(caller, client)
  const tally: Tally = client.operations.get(operation) ?? {
    ...{ calls: 0, firstSeen: Number.POSITIVE_INFINITY, lastSeen: 0, mismatches: 0, samples: 0 },
    ...{ modes: new Set(), protocols: new Set(), kept: emptyUse() },
  }
  client.operations.set(operation, tally)
  return tally
}
