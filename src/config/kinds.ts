import { z } from 'zod'
import { asModeRules, type ModeRules, modesSchema } from '../migrate/modes/rules.ts'
import { MODES } from '../serve/sides.ts'

/** A kind of value. Flags and the environment give text, the file gives JSON; `schema` reads both. */
export interface SettingKind<T> {
  readonly schema: z.ZodType<T>
  /** Completes the sentence "… must be …". */
  readonly allowed: string
  /** Values are never printed. */
  readonly secret?: true
  /** What a file may hold, for JSON Schema, where `schema` cannot say it. */
  readonly inFile?: z.ZodType
  /** Returns a value as a file may hold it. Without it, that is the value. */
  written?(value: T & {}): unknown
  /** What `--help` calls the value. */
  readonly value?: string
  /** The words that a flag may give. Errors suggest one of them. */
  readonly choices?: readonly string[]
}

const fromText = (read: (text: string) => unknown, schema: z.ZodType) =>
  z.preprocess((value) => (typeof value === 'string' ? read(value) : value), schema)

/** A whole number from `least` to `most`. */
export function integer(least: number, most: number): SettingKind<number> {
  const schema = fromText((text) => (/^\d+$/.test(text) ? Number(text) : text), z.int().min(least).max(most)) as z.ZodType<number>
  return { schema, allowed: `a whole number from ${least} to ${most}`, value: 'N' }
}

/** A whole number from `least` to `most`, or a word. */
export function integerOr<const W extends string>(word: W, least: number, most: number): SettingKind<number | W> {
  const { schema, allowed } = integer(least, most)
  return { schema: z.union([z.literal(word), schema]), allowed: `${allowed}, or ${word}`, value: `N|${word}` }
}

const WORDS: Readonly<Record<string, boolean>> = { true: true, false: false }

export const flag: SettingKind<boolean> = {
  schema: fromText((text) => WORDS[text] ?? text, z.boolean()) as z.ZodType<boolean>,
  allowed: 'true or false',
  choices: Object.keys(WORDS),
}

export function choiceOf<const T extends string>(...values: readonly T[]): SettingKind<T> {
  return { schema: z.enum(values as readonly [T, ...T[]]), allowed: `one of ${values.join(', ')}`, choices: values }
}

export const file: SettingKind<string | undefined> = { schema: z.string().min(1), allowed: 'the path of a file', value: 'FILE' }

/** The rules of `modes`. A mode alone, as a flag gives it, becomes the default mode. */
export const modes: SettingKind<ModeRules> = {
  schema: z.preprocess(asModeRules, modesSchema) as z.ZodType<ModeRules>,
  inFile: z.union([z.enum(MODES), modesSchema]),
  allowed: 'a mode (v1, v2, diff-v1, diff-v2) or an object {"default", "rules", "testers"}',
  choices: MODES,
}

export const host: SettingKind<string> = { schema: z.string().min(1), allowed: 'a host name or an IP address', value: 'HOST' }

/** A base address; a trailing slash is removed. Credentials are refused, because they would end up in logs. */
export const url: SettingKind<string | undefined> = {
  schema: z
    .string()
    .refine(isBase)
    .transform((text) => text.replace(/(?<!\/)\/+$/, '')),
  allowed: 'an address such as https://api.example.com, without credentials, query and fragment',
  value: 'URL',
}

function isBase(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password, search, hash } = new URL(text)
  return (protocol === 'http:' || protocol === 'https:') && username + password + search + hash === ''
}
