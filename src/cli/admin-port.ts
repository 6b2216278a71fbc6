import { misuse } from '../errors.ts'
import { isObject } from '../tables/json.ts'
import { type Flag, type Flags, type Io, textOf, textsOf } from './command.ts'
import { configFlags, configFrom } from './config-flags.ts'
import { oneLine } from './terminal/printable.ts'
import { withProgress } from './terminal/progress.ts'

const HOST = 'http://127.0.0.1'

/** The flags that name the running proxy to ask and the token to ask with. */
export const adminFlags: Readonly<Record<string, Flag>> = {
  admin: { help: `Address of the admin port. Default: ${HOST}:8081, or admin.port on this machine`, value: 'URL' },
  ...configFlags(['admin.token', 'admin.readToken', 'admin.tokens']),
}

type Problem = { readonly problem: string }

/** Sends a GET to the admin port of the running proxy. Returns the response, or a sentence that says why there is none. */
export async function askAdmin<T>(path: string, flags: Flags, io: Io): Promise<T | Problem> {
  const { ask, own } = adminPort(flags, io)
  const base = textOf(flags, 'admin') ?? own
  return withProgress(io.screen, `asking ${oneLine(base)}`, () => ask(path, base))
}

/** Sends a POST without a body, with a token that may change something. A refusal is the sentence of the admin port. */
export async function orderAdmin<T>(path: string, flags: Flags, io: Io): Promise<T | Problem> {
  const { order, own } = adminPort(flags, io)
  const base = textOf(flags, 'admin') ?? own
  return withProgress(io.screen, `asking ${oneLine(base)}`, () => order(path, base))
}

/** An admin port to ask. */
export interface AdminPort {
  /** Address of the admin port on this machine. */
  readonly own: string
  ask<T>(path: string, base: string): Promise<T | Problem>
  order<T>(path: string, base: string): Promise<T | Problem>
}

/** Returns how to ask an admin port with the token of the settings, or throws a misuse if they are wrong. */
export function adminPort(flags: Flags, io: Io): AdminPort {
  const loaded = configFrom(flags, io)
  if ('problem' in loaded) throw misuse(loaded.problem)
  const { config } = loaded
  const wrong = [textOf(flags, 'admin') ?? [], textsOf(flags, 'admin')]
    .flat()
    .find((one) => !/^https?:\/\/./.test(one) || !URL.canParse(one))
  if (wrong !== undefined) throw misuse(`--admin is ${JSON.stringify(wrong)}, but it must be an address such as ${HOST}:8081.`)
  const changing = config['admin.token'] ?? config['admin.tokens'][0]?.token
  const reading = config['admin.readToken'] ?? changing
  return {
    own: `${HOST}:${config['admin.port']}`,
    ask: (path, base) => send('GET', base, path, reading, (missing) => io.err(missing)),
    order: (path, base) => send('POST', base, path, changing, () => {}),
  }
}

/** `tell` takes what is missing in an answer of a fleet. */
async function send<T>(
  method: 'GET' | 'POST',
  base: string,
  path: string,
  token: string | undefined,
  tell: (missing: string) => void,
): Promise<T | Problem> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const answer = await fetch(`${base}${path}`, { method, headers }).catch(() => undefined)
  const body: unknown = await answer?.json().catch(() => undefined)
  const missing = answer?.headers.get('x-crosswalk-incomplete')
  if (missing) tell(missing)
  if (answer?.ok && body !== undefined) return body as T
  // What is said about a token names none of the settings of this command.
  const said = method === 'POST' && answer?.status !== 401 && isObject(body) ? body.message : undefined
  return { problem: typeof said === 'string' ? said : problemOf(base, path, answer?.status, token) }
}

function problemOf(base: string, path: string, status: number | undefined, token: string | undefined): string {
  if (status === 401) {
    const [what, how] = token === undefined ? ['asks for a token', 'give'] : ['does not know the token', 'put another into']
    return `${base} ${what}; ${how} admin.readToken (CROSSWALK_ADMIN_READ_TOKEN) or admin.token (CROSSWALK_ADMIN_TOKEN).`
  }
  if (status === 403) return `${base} does not go by that name; ask it by an address, or list the name in its admin.names.`
  if (status !== undefined) return `${base} answers ${path} with HTTP ${status}: is it the admin port of Crosswalk?`
  return `No proxy answers on ${base}; start one with crosswalk demo or crosswalk serve, or give its admin address with --admin.`
}
