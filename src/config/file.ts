import { readFileSync } from 'node:fs'
import { isObject, type JsonObject } from '../tables/json.ts'
import { suggestion } from '../tables/suggestion.ts'
import { SETTING_KEYS, type SettingKey } from './settings.ts'

/** Values by setting key, or a sentence that describes the problem with the file. */
export type FileValues = ReadonlyMap<SettingKey, unknown> | { readonly problem: string }

/** Reads a configuration file: a JSON object, nested at the dots of the keys. Unknown keys are refused, so that typing errors surface. */
export function readConfigFile(path: string): FileValues {
  let content: unknown
  try {
    content = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    return { problem: `The configuration file ${path} cannot be read: ${withoutContent(error as Error)}.` }
  }
  if (!isObject(content)) return { problem: `The configuration file ${path} must hold one JSON object.` }
  const values = new Map<SettingKey, unknown>()
  const unknown = collect(content, '', values)
  if (unknown === undefined) return values
  const advice = suggestion(unknown, SETTING_KEYS, `the keys are ${SETTING_KEYS.join(', ')}.`)
  return { problem: `The configuration file ${path} has an unknown key "${unknown}"; ${advice}` }
}

const NO_JSON = ' is not valid JSON'

/** Removes the text that V8 quotes around a JSON error, because it may contain a token. */
function withoutContent({ message }: Error): string {
  const quote = message.search(/, (?:\.\.\.)?"/)
  return quote >= 0 && message.endsWith(NO_JSON) ? message.slice(0, quote) + NO_JSON : message
}

/** Collects the values of known keys. Returns the first unknown key. */
function collect(object: JsonObject, prefix: string, values: Map<SettingKey, unknown>): string | undefined {
  for (const [member, value] of Object.entries(object)) {
    const key = prefix + member
    if (isSettingKey(key)) values.set(key, value)
    else if (!isObject(value) || !SETTING_KEYS.some((known) => known.startsWith(`${key}.`))) return key
    else {
      const unknown = collect(value, `${key}.`, values)
      if (unknown !== undefined) return unknown
    }
  }
  return undefined
}

function isSettingKey(key: string): key is SettingKey {
  return (SETTING_KEYS as readonly string[]).includes(key)
}
