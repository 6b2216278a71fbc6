/** What changed what the proxy does: a person, the program around it, the configuration file, the start, a rollout or a circuit. */
export interface Actor {
  readonly source: 'admin' | 'program' | 'file' | 'start' | 'rollout' | 'circuit'
  /** The name of the admin token, never the token. */
  readonly token?: string
  /** The remote address of the connection to the admin port. */
  readonly address?: string
  /** The path of the configuration file. */
  readonly path?: string
}

const NAMES: Readonly<Record<Actor['source'], string>> = {
  admin: 'admin port',
  program: 'program',
  file: 'file',
  start: 'start',
  rollout: 'rollout',
  circuit: 'circuit',
}

/** Names an actor in a line: `file crosswalk.json`, `admin port, token ops, from 127.0.0.1`. */
export function describeActor({ source, token, address, path }: Actor): string {
  const name = path === undefined ? NAMES[source] : `${NAMES[source]} ${path}`
  return [name, ...(token === undefined ? [] : [`token ${token}`]), ...(address === undefined ? [] : [`from ${address}`])].join(', ')
}
