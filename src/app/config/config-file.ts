import { existsSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { findNodeAtLocation, getNodeValue, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import type * as Yaml from 'yaml'
import { systemReason } from '../../errors.ts'
import { smallFile, tooDeep } from '../../files.ts'
import { suggestion } from '../../tables/check.ts'
import { isObject, type JsonObject } from '../../tables/json.ts'
import type { Tables } from '../../tables/tables.ts'
import { withoutSecrets } from './kinds.ts'
import { SETTING_KEYS, type SettingKey } from './settings.ts'

/** A member of nested settings. */
interface SettingMember {
  /** Its path with dots: `limits.deadlineMs`, whether or not there is such a setting. */
  readonly key: string
  readonly at: MemberPath
  readonly value: unknown
}

/** Yields each setting and each member that is none. A group without a value, as YAML may have one, is empty. */
export function* membersOf(object: JsonObject, above: readonly string[] = []): Generator<SettingMember> {
  for (const [name, value] of Object.entries(object)) {
    const at = [...above, name]
    const key = at.join('.')
    const isGroup = SETTING_KEYS.some((known) => known.startsWith(`${key}.`))
    if (isSettingKey(key) || !isGroup || !(value === null || isObject(value))) yield { key, at, value }
    else yield* membersOf(value ?? {}, at)
  }
}

export function isSettingKey(key: string): key is SettingKey {
  return (SETTING_KEYS as readonly string[]).includes(key)
}

/** The path of a member: names of objects, numbers of lists. */
type MemberPath = readonly (string | number)[]

/** What a file holds. */
interface ParsedFile {
  readonly value: unknown
  /** Returns where a member begins, as `3:9`: line 3, column 9. Undefined if the file has no such member. */
  placeOf(path: MemberPath): string | undefined
}

/** A parsed file, or what is wrong with its text, as the end of a sentence. It quotes nothing, because the text may hold a token. */
type Parsed = ParsedFile | { readonly wrong: string }

/** Returns the line and the column of an offset, both from 1. */
function lineAndColumn(text: string, offset: number): readonly [line: number, column: number] {
  const before = text.slice(0, offset)
  return [before.split('\n').length, offset - before.lastIndexOf('\n')]
}

/** Returns `line 3, column 9: …`. */
function wrongAt(text: string, offset: number, what: string): Parsed {
  const [line, column] = lineAndColumn(text, offset)
  return { wrong: `line ${line}, column ${column}: ${what}` }
}

/** `offsetOf` returns where a member begins in the text; undefined if there is no such member. */
function parsedAs(value: unknown, text: string, offsetOf: (path: MemberPath) => number | undefined): ParsedFile {
  return {
    value,
    placeOf(path) {
      const offset = offsetOf(path)
      return offset === undefined ? undefined : lineAndColumn(text, offset).join(':')
    },
  }
}

/** What is wrong, by the parser's name for it. */
const WRONG: Readonly<Record<string, string>> = {
  InvalidSymbol: 'a text needs quotes around it',
  InvalidNumberFormat: 'a number is incomplete',
  PropertyNameExpected: 'the name of a member is missing, in double quotes',
  ValueExpected: 'a value is missing',
  ColonExpected: 'a colon is missing',
  CommaExpected: 'a comma is missing',
  CloseBraceExpected: 'a closing } is missing',
  CloseBracketExpected: 'a closing ] is missing',
  EndOfFileExpected: 'the file should end here',
  UnexpectedEndOfComment: 'a comment has no end',
  UnexpectedEndOfString: 'a text has no closing quote',
  UnexpectedEndOfNumber: 'a number is incomplete',
  InvalidUnicode: 'an escaped character is incomplete',
  InvalidEscapeCharacter: 'a backslash stands before a character that needs none',
  InvalidCharacter: 'a character is not allowed here',
}

/** Levels of a file. */
const DEEPEST = 100

/** Reads JSON, in which comments and commas before a closing bracket are allowed. */
export function parseJsonc(text: string): Parsed {
  const deep = tooDeep(text, DEEPEST)
  if (deep !== undefined) return wrongAt(text, deep, `brackets are nested deeper than ${DEEPEST} levels`)
  const errors: ParseError[] = []
  const root = parseTree(text, errors, { allowTrailingComma: true })
  const [first] = errors
  if (first) return wrongAt(text, first.offset, WRONG[printParseErrorCode(first.error)] ?? 'this is not JSON')
  if (!root) return { wrong: 'it is empty' }
  const repeated = repeatedIn(root)
  if (repeated) return wrongAt(text, repeated.offset, 'an earlier member has this name')
  return parsedAs(getNodeValue(root), text, (path) => findNodeAtLocation(root, [...path])?.offset)
}

/** Returns the first member whose name its object has already; JSON would silently keep one of them. */
function repeatedIn({ type, children = [] }: Node): Node | undefined {
  if (type === 'object') {
    const names = new Set<unknown>()
    for (const property of children) {
      const name: unknown = property.children?.[0]?.value
      if (names.has(name)) return property
      names.add(name)
    }
  }
  for (const child of children) {
    const found = repeatedIn(child)
    if (found) return found
  }
  return undefined
}

/**
 * Reads YAML 1.2. Names of members are texts as in JSON: the hash of a client may look like a number. The parser is loaded when the first
 * file needs it.
 */
export function parseYaml(text: string): Parsed {
  const deep = tooDeep(text, DEEPEST)
  if (deep !== undefined) return wrongAt(text, deep, `brackets are nested deeper than ${DEEPEST} levels`)
  const { isNode, parseDocument } = createRequire(import.meta.url)('yaml') as typeof Yaml
  const document = parseDocument(text, { prettyErrors: false, version: '1.2', stringKeys: true })
  const [first] = document.errors
  if (first) return wrongAt(text, first.pos[0], `this is not YAML (${first.code.toLowerCase().replaceAll('_', ' ')})`)
  const value = contentOf(document)
  if (value === undefined) return { wrong: 'an alias (*) names no anchor (&) before it, or too many of them' }
  return parsedAs(value, text, (path) => {
    const node = document.getIn(path, true)
    return isNode(node) ? node.range?.[0] : undefined
  })
}

/** A document without a value, such as one of comments alone, is an empty object. Undefined if aliases cannot be resolved. */
function contentOf(document: Yaml.Document): unknown {
  try {
    return document.toJS() ?? {}
  } catch {
    return undefined
  }
}

/** A value of a configuration file. */
export interface FileValue {
  readonly value: unknown
  /** Returns the file, and where the value or a member of it begins: `crosswalk.yaml:3:9`. */
  readonly placeOf: (inside: MemberPath) => string
}

/** The values by setting key, and one sentence for each problem with the file. */
interface ReadFile {
  readonly values: ReadonlyMap<SettingKey, FileValue>
  readonly problems: readonly string[]
}

/**
 * Reads a configuration file, in JSON or YAML: an object, nested at the dots of the keys. Unknown keys are problems, so that typing errors
 * surface; `$schema` is for editors.
 */
export function readConfigFile(path: string): ReadFile {
  const parsed = parsedAt(path)
  if ('wrong' in parsed) return wrong(`The configuration file ${path} cannot be read: ${parsed.wrong}.`)
  const { value } = parsed
  if (!isObject(value)) return wrong(`The configuration file ${path} must hold one object.`)
  const { $schema: _, ...content } = value
  const members = [...membersOf(content)]
  const unknown = members.filter(({ key }) => !isSettingKey(key))
  const repeated = members.filter(({ key }, nth) => isSettingKey(key) && members.findIndex((one) => one.key === key) < nth)
  return {
    values: new Map(
      members.flatMap(({ key, at, value }) => (isSettingKey(key) ? [[key, { value, placeOf: placesIn(path, parsed, at) }] as const] : [])),
    ),
    problems: [
      ...unknown.map(({ key }) => {
        return `The configuration file ${path} has an unknown key "${key}"; ${suggestion(key, SETTING_KEYS, 'crosswalk config lists the keys.')}`
      }),
      ...repeated.map(({ key }) => `The configuration file ${path} has ${key} twice, in a group and by its whole name; leave one out.`),
    ],
  }
}

function wrong(problem: string): ReadFile {
  return { values: new Map(), problems: [problem] }
}

function parsedAt(path: string): Parsed {
  let text: string
  try {
    text = smallFile(path).replace(/^\uFEFF/, '')
  } catch (error) {
    return { wrong: systemReason(error) }
  }
  return isYaml(path, text) ? parseYaml(text) : parseJsonc(text)
}

const NAMED_JSON = /\.jsonc?$/i
const NAMED_YAML = /\.ya?ml$/i

/** The name of the file decides. A file with another name is JSON if it begins with a bracket, perhaps after comments. */
function isYaml(path: string, text: string): boolean {
  if (NAMED_YAML.test(path)) return true
  return !NAMED_JSON.test(path) && !/^\s*(?:[{[]|\/[/*])/.test(text)
}

function placesIn(path: string, { placeOf }: ParsedFile, at: MemberPath): FileValue['placeOf'] {
  return (inside) => [path, placeOf([...at, ...inside]) ?? placeOf(at)].filter((part) => part !== undefined).join(':')
}

/**
 * Returns the tables that the module at a path exports as `tables`, or those of this package without a path. Rejects with a sentence if
 * there is no such module, or if it exports something else.
 */
export async function loadTables(path: string | undefined): Promise<Tables> {
  if (path === undefined) return (await import('../../../mappings/index.ts')).tables
  const { tables } = await importFrom(path)
  if (!isTables(tables))
    throw new Error(`${withoutSecrets(path)} exports no tables; export them as: export const tables: Tables = { name, mappings, … }`)
  return tables
}

async function importFrom(path: string): Promise<{ readonly tables?: unknown }> {
  try {
    // Node reads a device until the memory is full.
    if (existsSync(path) && !statSync(path).isFile()) throw new Error('it is not a file')
    return await import(pathToFileURL(resolve(path)).href)
  } catch (error) {
    const problem = existsSync(path) ? problemIn(error as NodeJS.ErrnoException) : 'there is no such file'
    throw new Error(`${withoutSecrets(path)} cannot be loaded as tables: ${problem}`, { cause: error })
  }
}

function problemIn({ code, message }: NodeJS.ErrnoException): string {
  if (/outside a module/.test(message)) return `${message}; name it .mjs, or write "type": "module" into package.json`
  if (code !== 'ERR_UNKNOWN_FILE_EXTENSION') return message
  return `Node ${process.versions.node} loads JavaScript alone: compile it, or use Node 22.18 or newer for TypeScript`
}

/** Whether the tables are right is checked when they are used. */
function isTables(value: unknown): value is Tables {
  return typeof value === 'object' && value !== null && 'name' in value && 'mappings' in value && Array.isArray(value.mappings)
}
