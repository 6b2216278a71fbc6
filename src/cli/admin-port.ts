import type { Flag, Flags, Io } from './command.ts'
import { textOf } from './command.ts'

const DEFAULT_ADMIN = 'http://127.0.0.1:8081'

/** The flag that says which running proxy is asked. */
export const adminFlag: Readonly<Record<string, Flag>> = {
  admin: { help: `Address of the admin port (${DEFAULT_ADMIN}, or CROSSWALK_ADMIN_PORT on this machine)` },
}

/** What the admin port of the running proxy answers to a GET, or a sentence why it does not. */
export async function askAdmin<T>(path: string, flags: Flags, io: Io): Promise<T | { readonly problem: string }> {
  const port = io.env.CROSSWALK_ADMIN_PORT
  const base = textOf(flags, 'admin') ?? (port ? `http://127.0.0.1:${port}` : DEFAULT_ADMIN)
  const answer = await fetch(`${base}${path}`).catch(() => undefined)
  if (answer?.ok) return (await answer.json()) as T
  return {
    problem: answer
      ? `${base} answers ${path} with HTTP ${answer.status}: is it the admin port of Crosswalk?`
      : `No proxy answers on ${base}; start one with crosswalk demo or crosswalk serve, or give its admin address with --admin.`,
  }
}
