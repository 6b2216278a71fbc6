import { isIP, isIPv4 } from 'node:net'
import { z } from 'zod'
import { named, systemReason } from '../../errors.ts'
import { smallFile } from '../../files.ts'
import { readStoreUrl } from '../../fleet/store/store.ts'
import type { ClientNames } from '../../migrate/clients.ts'
import type { OperationTerms } from '../../migrate/evidence/terms.ts'
import { asModeRules, type ModeRules, modesSchema } from '../../migrate/modes/rules.ts'
import { MODES } from '../../serve/sides.ts'
import { isObject } from '../../tables/json.ts'
import { PARAM_FORMS } from '../../tables/query.ts'
import { DIFFERENCE_KINDS, type IgnoreRule } from '../../tables/signs.ts'

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

/** The characters of a bearer token (RFC 6750 §2.1), and enough of them to rule out guessing. `@` is not among them. */
const TOKEN = /^(?=.{16,4096}$)[A-Za-z\d._~+/-]+=*$/
const ALLOWED = 'a token of 16 or more letters, digits or ._~+/-, or @ and the path of a file that holds it'

/** A text that is never printed, or the file that holds it. */
function hidden(allowed: string, isRight: (text: string) => boolean, value: string): SettingKind<string | undefined> {
  return { secret: true, schema: fromFile(allowed, isRight), allowed, value }
}

/** A token that clients must send. Put it in a file or the environment: `ps` shows flags. */
export const secret = hidden(ALLOWED, (token) => TOKEN.test(token), 'TOKEN')

/** Reads a text, or the file that it names after `@`. Its issues never quote the text. */
export function fromFile(allowed: string, isRight: (text: string) => boolean): z.ZodType<string> {
  return z.string({ error: `must be ${allowed}` }).transform((given, context) => {
    const read = given.startsWith('@') ? contentOf(given.slice(1)) : { text: given }
    if ('text' in read && isRight(read.text)) return read.text
    context.addIssue({ code: 'custom', message: 'text' in read ? `must be ${allowed}` : read.problem })
    return z.NEVER
  })
}

function contentOf(path: string): { readonly text: string } | { readonly problem: string } {
  try {
    return { text: smallFile(path).trim() }
  } catch (error) {
    // A text that does not look like a path may be a secret that begins with @.
    const shown = /^\.{0,2}\//.test(path) ? named(error, path) : Object.assign(error as Error, { path: undefined })
    return { problem: `names a file that cannot be read: ${systemReason(shown)}` }
  }
}

const fromText = (read: (text: string) => unknown, schema: z.ZodType) =>
  z.preprocess((value) => (typeof value === 'string' ? read(value) : value), schema)

/** What a file may hold where a flag gives a text with commas. */
const ONE_OR_MORE = z.union([z.string(), z.array(z.string())])

/** Reads such a value as one text. */
function joined(schema: z.ZodType<string>): z.ZodType<string> {
  return z.preprocess((value) => (Array.isArray(value) ? value.join(',') : value), schema)
}

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

/** A base address, as URLs are written; trailing slashes are removed. Credentials are refused, because they would end up in logs. */
export const url: SettingKind<string | undefined> = {
  schema: z
    .string()
    .refine(isBase)
    .transform((text) => new URL(text))
    .transform(({ origin, pathname }) => origin + pathname.replace(/(?<!\/)\/+$/, '')),
  allowed: 'an address such as https://api.example.com, without credentials, query and fragment',
  value: 'URL',
}

/** Where people find a port: an origin, because its page asks for its data at the root. */
export const publicOrigin: SettingKind<string | undefined> = {
  schema: z
    .string()
    .refine((text) => isBase(text) && new URL(text).pathname === '/')
    .transform((text) => new URL(text).origin),
  allowed: 'an address such as https://crosswalk.example.com, without credentials, path, query and fragment',
  value: 'URL',
}

/**
 * Returns a value for a message, as JSON. What stands in an address before `@` or behind `?` or `#` is left out, because it may be a
 * password or a token; a wrong address need not be one that can be parsed.
 */
export function quotedValue(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'string' ? withoutSecrets(part) : part))
}

export function withoutSecrets(text: string): string {
  const end = text.lastIndexOf('@')
  const scheme = /^[a-z][a-z\d+.-]*:\/*/i.exec(text.slice(0, Math.max(0, end)))?.[0] ?? ''
  const shown = end < 0 ? text : `${scheme}…${text.slice(end)}`
  return shown.replace(/([?#]).+/s, '$1…')
}

/** Returns the address of HTTP that a text is; undefined if it is none, or has one of the parts that it must lack. */
function httpAddress(text: string, ...lacks: readonly ('username' | 'password' | 'search' | 'hash')[]): URL | undefined {
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  return /^https?:$/.test(url.protocol) && lacks.every((part) => url[part] === '') ? url : undefined
}

export function isBase(text: string): boolean {
  return httpAddress(text, 'username', 'password', 'search', 'hash') !== undefined
}

const STORE_ADDRESSES =
  'an address such as file:PATH, redis://HOST:PORT, rediss://HOST or redis+sentinel://HOST,HOST/NAME, with USER:PASSWORD@ before the host and /NUMBER of a database at its end if they are needed, or @ and the path of a file that holds it'

/** Where replicas share what they know. It may hold a password. */
export const storeUrl = hidden(STORE_ADDRESSES, isStoreUrl, 'URL')

function isStoreUrl(text: string): boolean {
  try {
    readStoreUrl(text)
    return true
  } catch {
    return false
  }
}

function nameOf(pattern: RegExp, allowed: string): SettingKind<string> {
  return { schema: z.string().regex(pattern, { error: `must be ${allowed}` }), allowed, value: 'NAME' }
}

/** It becomes a part of each key in Redis, between braces. */
export const storeName = nameOf(/^[A-Za-z\d._-]{1,64}$/, '1 to 64 letters, digits or ._-')

export const buildName: SettingKind<string | undefined> = nameOf(/^[\x21-\x7e]{1,100}$/, '1 to 100 printable characters without a space')

/** The name of a claim. */
export const claim = nameOf(/^[\x21-\x7e]{1,200}$/, '1 to 200 printable characters without a space')

const RECEIVER =
  'an address such as https://hooks.example.com/crosswalk without credentials, or @ and the path of a file that holds it; http:// is for this machine only'

const PROXY =
  'an address such as http://proxy.example.com:3128, with USER:PASSWORD@ before the host if they are needed, or @ and the path of a file that holds it'

/** The address of an HTTP proxy. It may hold a password. */
export const proxyUrl = hidden(PROXY, (text) => httpAddress(text, 'search', 'hash')?.pathname === '/', 'URL')

/** The address of a receiver. Its path or query may hold a token. */
export const receiver = hidden(RECEIVER, isReceiver, 'URL')

const SIGNING = 'whsec_ and 24 to 64 random bytes in base64, several with commas between them, or @ and the path of a file that holds them'

/** Symmetric secrets of Standard Webhooks, with commas between them. */
export const signingSecrets: SettingKind<string | undefined> = {
  secret: true,
  schema: joined(fromFile(SIGNING, (text) => secretsIn(text).every(isSigningSecret))),
  inFile: ONE_OR_MORE,
  allowed: SIGNING,
  value: 'SECRET',
}

/** Splits such a text: a file may hold one secret a line. */
export function secretsIn(text: string): readonly string[] {
  return text.split(/[\s,]+/)
}

const IDENTITY = 'an absolute URI such as https://crosswalk.example.com or urn:crosswalk:eu'

/** The `source` of events. */
export const identity: SettingKind<string | undefined> = { schema: z.string().refine(isUri), allowed: IDENTITY, value: 'URI' }

function isReceiver(text: string): boolean {
  const url = httpAddress(text, 'username', 'password', 'hash')
  return url !== undefined && (url.protocol === 'https:' || isThisMachine(url.hostname))
}

function isThisMachine(name: string): boolean {
  return name === 'localhost' || name === '[::1]' || (isIPv4(name) && name.startsWith('127.'))
}

const ISSUER =
  'an address such as https://login.example.com/realms/main without credentials, query and fragment; http:// is for this machine only'

/** Who signs tokens of OpenID Connect. It stays as it is written, because tokens name it letter by letter. */
export const issuer: SettingKind<string | undefined> = {
  schema: z.string().refine((text) => isReceiver(text) && new URL(text).search === ''),
  allowed: ISSUER,
  value: 'URL',
}

function isSigningSecret(text: string): boolean {
  const [, base64] = /^whsec_([A-Za-z\d+/]+={0,2})$/.exec(text) ?? []
  const key = Buffer.from(base64 ?? '', 'base64')
  return key.length >= 24 && key.length <= 64 && key.toString('base64') === base64
}

function isUri(text: string): boolean {
  return /^[a-z][a-z\d+.-]*:[\w.~:/?#[\]@!$&'()*+,;=%-]+$/i.test(text) && URL.canParse(text)
}

/** Accepts several addresses as one comma-separated text, or as an array in the file. */
const several = (isOne: (text: string) => boolean, allowed: string, value: string): SettingKind<string | undefined> => ({
  schema: joined(
    z
      .string()
      .transform(listOf)
      .refine((parts) => parts.every(isOne))
      .transform((parts) => parts.join(',')),
  ),
  inFile: ONE_OR_MORE,
  allowed,
  value,
})

export const addresses = several(isNetwork, 'addresses or networks with commas between them, such as 10.0.0.0/8,::1', 'ADDRESSES')

export const names = several(isName, 'host names with commas between them, without ports, such as crosswalk.internal', 'NAMES')

export const directNames = several(
  (text) => text === '*' || isIP(text) !== 0 || isName(text.replace(/^\*?\./, '')),
  'host names and addresses with commas between them, such as .internal,10.0.0.7, or *',
  'NAMES',
)

export const origins = several(isOrigin, 'origins with commas between them, such as https://console.example.com, or *', 'ORIGINS')

/** Texts that may have commas of their own, such as names of a directory: an array of the file keeps them. */
export const texts: SettingKind<readonly string[] | undefined> = {
  schema: fromText(listOf, z.custom(isTexts)) as z.ZodType<readonly string[]>,
  inFile: ONE_OR_MORE,
  allowed: 'texts with commas between them',
  value: 'TEXTS',
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string' && one !== '')
}

/** Splits such a text; undefined gives none. */
export function listOf(text: string | undefined): readonly string[] {
  return text?.split(',').map((part) => part.trim()) ?? []
}

function isName(text: string): boolean {
  return /^[a-z\d](?:[a-z\d.-]*[a-z\d])?$/i.test(text)
}

function isOrigin(text: string): boolean {
  return text === '*' || httpAddress(text)?.origin === text
}

const WIDTHS: Readonly<Record<number, number>> = { 4: 32, 6: 128 }

/** Accepts `192.0.2.1`, `::1`, `10.0.0.0/8`. */
function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/')
  const width = WIDTHS[isIP(address)]
  if (width === undefined || rest.length > 0 || address.includes('%')) return false
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= width)
}

/** A moment in whole seconds since the epoch. It is read from a date (its first second in UTC) or from a date with a time. */
export const moment: SettingKind<number | undefined> = {
  schema: z.union([z.iso.date(), z.iso.datetime({ offset: true })]).transform((text) => Math.floor(Date.parse(text) / 1000)),
  allowed: 'a date such as 2027-03-01 or 2027-03-01T12:00:00Z',
  written: (seconds) => new Date(1000 * seconds).toISOString(),
  value: 'DATE',
}

/** An address for a `Link` header, encoded so that it can end neither the header nor the link. */
export const link: SettingKind<string | undefined> = {
  schema: z
    .string()
    .refine((text) => httpAddress(text, 'username', 'password') !== undefined)
    .transform((text) => new URL(text).href),
  allowed: 'an address such as https://docs.example.com/v2, without credentials',
  value: 'URL',
}

const WRONG_TEXTS = 'must be a text or a list of texts'
const someTexts = z.union([z.string().min(1, WRONG_TEXTS), z.array(z.string().min(1, WRONG_TEXTS)).min(1, WRONG_TEXTS)], {
  error: WRONG_TEXTS,
})

const values = z.union([z.enum(PARAM_FORMS), z.array(z.string()).min(1)], {
  error: `must be a list of texts, or one of ${PARAM_FORMS.join(', ')}`,
})

const WRONG_PLACE = 'must be a JSON Pointer in table names such as /items/*/readme, or "" for the status'
const WRONG_DIFFERENCE = 'must say why clients can accept the difference'
const WRONG_UNTIL = 'must be a date such as 2027-03-01 or 2027-03-01T12:00:00Z'

/** A list, or its JSON as a flag and the environment give it. */
function listFrom<T>(one: z.ZodType, allowed: string, written?: (list: readonly T[]) => unknown): SettingKind<readonly T[]> {
  const schema = z.preprocess((value) => {
    if (typeof value !== 'string') return value
    try {
      return JSON.parse(value)
    } catch {
      return value
    }
  }, z.array(one)) as unknown as z.ZodType<readonly T[]>
  return { schema, allowed: `a list of objects ${allowed}`, value: 'JSON', ...(written && { written }) }
}

const rule = z.strictObject({
  name: z
    .string({ error: 'must be a text' })
    .regex(/^[a-z0-9-]+$/, 'must have small letters, digits and hyphens only')
    .optional(),
  operations: someTexts,
  at: z.string({ error: WRONG_PLACE }).regex(/^(?:\/(?:[^~/]|~[01])+)*$/, WRONG_PLACE),
  kinds: z
    .array(z.enum(DIFFERENCE_KINDS, { error: `must be one of ${DIFFERENCE_KINDS.join(', ')}` }), { error: 'must be a list' })
    .min(1)
    .optional(),
  when: z
    .array(z.strictObject({ param: someTexts, is: values.optional(), isNot: values.optional() }), { error: 'must be a list' })
    .optional(),
  v1: z.unknown().optional(),
  v2: z.unknown().optional(),
  reason: z.string({ error: WRONG_DIFFERENCE }).trim().min(1, WRONG_DIFFERENCE),
  until: z.union([z.iso.date(), z.iso.datetime({ offset: true })], { error: WRONG_UNTIL }).transform((text) => Date.parse(text)),
})

/** Rules of differences to ignore. */
export const ignoreRules = listFrom<IgnoreRule>(
  rule,
  '{"operations", "at", "kinds", "when", "v1", "v2", "name", "reason", "until"}',
  (rules) => rules.map((one) => ({ ...one, until: new Date(one.until).toISOString() })),
)

const WRONG_SHARE = 'must be a share of wrong answers of more than 0 and less than 1, such as 0.01'
const WRONG_REASON = 'must say why the operations may move without proof'
const WRONG_DAY = 'must be the last day on which it holds, such as 2027-01-31'

const terms = z
  .strictObject({
    operations: someTexts,
    target: z.number({ error: WRONG_SHARE }).gt(0, WRONG_SHARE).lt(1, WRONG_SHARE).optional(),
    accept: z
      .strictObject(
        {
          reason: z.string({ error: WRONG_REASON }).trim().min(1, WRONG_REASON),
          until: z.iso.date({ error: WRONG_DAY }),
        },
        { error: 'must be an object {"reason", "until"}' },
      )
      .optional(),
  })
  .refine(({ target, accept }) => target !== undefined || accept !== undefined, 'must give a target, or accept with a reason and a date')

/** What persons decided about operations by their names. */
export const operationTerms = listFrom<OperationTerms>(terms, '{"operations", "target", "accept": {"reason", "until"}}')

export interface NamedToken {
  readonly name: string
  readonly token: string
}

/** The names of settings begin with `admin.`; a person's may not, so that notes cannot be misread. */
const NAME = /^(?!admin\.)[A-Za-z\d][\w.@+-]{0,63}$/

const MOST = 100
const NAMED_TOKENS = 'pairs NAME=TOKEN with commas between them, or an object {"NAME": "TOKEN"} in the file'

/**
 * Tokens with the names of those who hold them, such as `alice=@alice.token`. No problem quotes a name, because it may be a token in the
 * wrong place; the position of the pair is told instead.
 */
export const namedTokens: SettingKind<readonly NamedToken[]> = {
  secret: true,
  schema: z.unknown().transform((value, context) => {
    const read = readPairs(pairsOf(value))
    if (!('problem' in read)) return read.tokens
    context.addIssue({ code: 'custom', message: read.problem })
    return z.NEVER
  }),
  inFile: z.union([z.string(), z.record(z.string().regex(NAME), z.string())]),
  allowed: NAMED_TOKENS,
  value: 'NAME=TOKEN,…',
}

type Pairs = readonly (readonly [name: string, token: unknown])[] | undefined

/** Returns undefined for what has no pairs. */
function pairsOf(value: unknown): Pairs {
  if (Array.isArray(value)) return value.map((one) => (isObject(one) ? [String(one.name), one.token] : ['', undefined]))
  if (isObject(value)) return Object.entries(value)
  if (typeof value !== 'string') return undefined
  return value.split(',').map((pair) => {
    const at = pair.indexOf('=')
    return [pair.slice(0, Math.max(at, 0)).trim(), at < 0 ? undefined : pair.slice(at + 1).trim()]
  })
}

function readPairs(pairs: Pairs): { readonly tokens: readonly NamedToken[] } | { readonly problem: string } {
  if (pairs === undefined || pairs.length > MOST) return { problem: `must be ${NAMED_TOKENS}, ${MOST} at most` }
  const tokens: NamedToken[] = []
  for (const [name, given] of pairs) {
    const place = `must be ${NAMED_TOKENS}; its pair ${tokens.length + 1}`
    const token = secret.schema.safeParse(given)
    if (!NAME.test(name)) return { problem: `${place} needs a name of letters, digits and ._@+-` }
    if (!token.success || token.data === undefined) return { problem: `${place} ${token.error?.issues[0]?.message}` }
    if (tokens.some((one) => one.name === name)) return { problem: `${place} has the name of an earlier one` }
    tokens.push({ name, token: token.data })
  }
  return { tokens }
}

const CLIENT_NAMES =
  'an object of hashes and names, or the same as HASH=NAME with commas between them, such as 3f2a1b4c5d6e7f80=Terraform, with names of 1 to 60 characters'

/** Names are printed in lists and on the page, so that they are short and have no control characters. */
const shownName = z.string().regex(/^[^\p{C}]{1,60}$/u, 'must be a name of 1 to 60 characters')

/** The names that people give to clients. */
export const clientNames: SettingKind<ClientNames | undefined> = {
  schema: z.preprocess(
    (value) => (typeof value === 'string' ? namesOf(value) : value),
    z.record(z.string(), shownName),
  ) as z.ZodType<ClientNames>,
  inFile: z.record(z.string(), z.string()),
  allowed: CLIENT_NAMES,
  value: 'HASH=NAME,…',
}

/** Returns undefined for a text that has a part without a hash or a name. A subject may hold an equals sign, and a name need not. */
function namesOf(text: string): ClientNames | undefined {
  const pairs = text.split(',').map((pair) => /^(.+)=([^=]+)$/.exec(pair.trim()) ?? [])
  const known = pairs.flatMap(([, hash, name]) => (hash === undefined || name === undefined ? [] : [[hash.trim(), name.trim()] as const]))
  return known.length === pairs.length ? Object.fromEntries(known) : undefined
}
