import { readFileSync } from 'node:fs'
import { systemReason } from '../../errors.ts'
import { suggestion } from '../../tables/check.ts'
import { isObject } from '../../tables/json.ts'
import { SETTING_KEYS, type SettingKey } from '../settings.ts'
import { isSettingKey, membersOf } from './members.ts'
import { parseJsonc } from './parse-jsonc.ts'
import { parseYaml } from './parse-yaml.ts'
import type { MemberPath, Parsed, ParsedFile } from './parsed-file.ts'

/** A value of a configuration file. */
export interface FileValue {
  readonly value: unknown
  /** Returns the file, and where the value or a member of it begins: `crosswalk.yaml:3:9`. */
  readonly placeOf: (inside: MemberPath) => string
}

/** The values by setting key, and one sentence for each problem with the file. */
export interface ReadFile {
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
  return {
    values: new Map(
      members.flatMap(({ key, at, value }) => (isSettingKey(key) ? [[key, { value, placeOf: placesIn(path, parsed, at) }] as const] : [])),
    ),
    problems: unknown.map(({ key }) => `The configuration file ${path} has an unknown key "${key}"; ${adviceFor(key)}`),
  }
}

function wrong(problem: string): ReadFile {
  return { values: new Map(), problems: [problem] }
}

function parsedAt(path: string): Parsed {
  let text: string
  try {
    text = readFileSync(path, 'utf8').replace(/^\uFEFF/, '')
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

function adviceFor(key: string): string {
  return suggestion(key, SETTING_KEYS, 'crosswalk config lists the keys.')
}
