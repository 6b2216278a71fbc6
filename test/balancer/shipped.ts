import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

interface Compose {
  readonly services: Readonly<Record<string, { readonly environment?: Readonly<Record<string, string>> }>>
}

/** The settings of a proxy in docker/compose.yaml, except that it trusts this machine's nginx instead of that of its network. */
export function proxyEnvironment(): Readonly<Record<string, string>> {
  const { services } = parse(readFileSync('docker/compose.yaml', 'utf8'), { merge: true }) as Compose
  const shipped = Object.entries(services['crosswalk-1']?.environment ?? {})
  const environment = Object.fromEntries(shipped.map(([name, value]) => [name, withDefault(String(value))]))
  return { ...environment, CROSSWALK_TRUSTED_PROXIES: '127.0.0.1' }
}

/** Compose puts the default of a variable that is not set into its place: `${NAME:-default}`. */
function withDefault(value: string): string {
  return value.replace(/^\$\{\w+:-(.*)\}$/, '$1')
}
