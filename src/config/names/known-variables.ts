import { suggestion } from '../../tables/check.ts'
import { envOf, SETTING_KEYS } from '../settings.ts'

const PREFIX = 'CROSSWALK_'

/** Variables that are no settings: of the sandbox, of the configuration file, and of the tests, which start the program too. */
const OTHERS = ['CONFIG', 'SANDBOX_PORT', 'SANDBOX_HOST', 'SEED', 'CASES', 'SAMPLE', 'INTEROP', 'REFERENCE'].map((name) => PREFIX + name)

/** What Kubernetes and Docker set in a container for a service or a container whose name begins with `crosswalk`. */
const LINK = /_(?:SERVICE_(?:HOST$|PORT(?:_|$))|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?$|ENV_|NAME$)/

const known = (): readonly string[] => [...SETTING_KEYS.map(envOf), ...OTHERS]

/** Returns a sentence for each variable that looks like a setting and is none. Values are not told. Empty variables count as unset. */
export function unknownVariables(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const names = known()
  const unknown = Object.keys(env).filter((name) => name.startsWith(PREFIX) && env[name] && !names.includes(name) && !LINK.test(name))
  const otherwise = 'crosswalk help serve lists those that are.'
  return unknown.map((name) => `The environment variable ${name} is no setting; ${suggestion(name, names, otherwise)}`)
}
