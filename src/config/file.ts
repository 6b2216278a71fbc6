import { readFileSync } from 'node:fs'
import { isObject, type JsonObject } from '../tables/json.ts'
import { nearest } from './nearest.ts'
import { SETTING_KEYS, type SettingKey } from './settings.ts'

/** Values by setting key, or a sentence that says what is wrong with the file. */
export type FileValues = ReadonlyMap<SettingKey, unknown> | { readonly problem: string }

/** Reads a configuration file: a JSON object nested as the dots of the keys are. Unknown keys are refused, so that no slip goes unseen. */
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
  const near = nearest(unknown, SETTING_KEYS)
  const advice = near ? `did you mean "${near}"?` : `the keys are ${SETTING_KEYS.join(', ')}.`
  return { problem: `The configuration file ${path} has an unknown key "${unknown}"; ${advice}` }
}

const NO_JSON = ' is not valid JSON'

/** V8 quotes what stands around a mistake in JSON: that may be a token. */
function withoutContent({ message }: Error): string {
  const quote = message.search(/, (?:\.\.\.)?"/)
  return quote >= 0 && message.endsWith(NO_JSON) ? message.slice(0, quote) + NO_JSON : message
}

/** Gathers the values of known keys; returns the first key that is not one. */
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
