import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { SharedModes } from '../../migrate/modes/modes.ts'
import { type ModeRules, readModeRules } from '../../migrate/modes/rules.ts'
import type { Actor } from '../../migrate/records/record.ts'
import type { Document } from '../../store/store.ts'
import { isObject } from '../../tables/json.ts'
import { readText } from '../read-text.ts'

/** The document of this name in the store holds the modes of all replicas. */
export const MODES = 'modes'

const documentSchema = z.object({
  rules: z.unknown(),
  by: z.custom<Actor>(isObject),
  at: z.number(),
  /** The digest of the modes that a configuration file proposed last. No replica proposes the same ones again. */
  file: z.string().optional(),
})

/** What a document of modes says. */
export interface ReadModes {
  readonly shared: SharedModes
  readonly file: string | undefined
}

/** Writes the text of a document. Members have one order, so that the same rules of the same person at the same time are the same text. */
export function modesText({ rules, by, at }: Pick<SharedModes, 'rules' | 'by' | 'at'>, file: string | undefined): string {
  return JSON.stringify({ rules, by, at, file })
}

/** Reads a document, or says in one sentence why this version of Crosswalk cannot. */
export function readModesDocument(document: Document): ReadModes | { readonly problem: string } {
  const read = readText(documentSchema, document.text)
  if (!read) return { problem: 'The modes have another form.' }
  const { by, at, file } = read
  const rules = readModeRules(read.rules)
  return 'problem' in rules ? rules : { shared: { rules, version: document.version, tag: tagOf(document), by, at }, file }
}

/** The entity tag, alike on all replicas. The hash tells two documents of one version apart, which a store that lost writes can hold. */
export function tagOf({ version, text }: Document): string {
  return `${version}-${createHash('sha256').update(text).digest('hex').slice(0, 12)}`
}

/** The digest of the modes that a configuration file proposes. */
export function digestOf(rules: ModeRules): string {
  return createHash('sha256').update(JSON.stringify(rules)).digest('hex').slice(0, 12)
}
