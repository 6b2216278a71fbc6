import type { Kinds, StoreFound, StoreRead } from '../store.ts'

/** A reply of the script to one read: the stamp, then texts; null if nothing is newer. */
export type FoundReply = readonly (string | null)[] | null

/** Reads what `READS_SCRIPT` found. */
export function readFound({ kind }: StoreRead, reply: FoundReply | undefined): StoreFound {
  if (!reply) return undefined
  const [stamp, ...texts] = reply.map((text) => text ?? '')
  return { stamp: Number(stamp), value: VALUES[kind](texts) }
}

const VALUES: { readonly [K in keyof Kinds]: (texts: readonly string[]) => Kinds[K] } = {
  sums: (texts) => Object.fromEntries(rows(texts, 2).map(([field = '', sum]) => [field, Number(sum)])),
  texts: (texts) => Object.fromEntries(rows(texts, 2).map(([field = '', text = '']) => [field, text])),
  log: (texts) => rows(texts, 3).map(([nth, replica = '', text = '']) => ({ nth: Number(nth), replica, text })),
  document: ([version, text = '']) => ({ version: Number(version), text }),
  lease: ([holder]) => holder || undefined,
  replicas: (texts) => rows(texts, 3).map(([replica = '', agoMs, text = '']) => ({ replica, text, agoMs: Number(agoMs) })),
}

function rows(texts: readonly string[], size: number): readonly (readonly string[])[] {
  return Array.from({ length: texts.length / size }, (_, row) => texts.slice(row * size, (row + 1) * size))
}
