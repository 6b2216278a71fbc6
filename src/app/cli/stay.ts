import { isDeepStrictEqual } from 'node:util'
import type { Logger } from 'pino'
import { smallFile } from '../../files.ts'
import { describeRules } from '../../migrate/modes/rules.ts'
import type { Actor } from '../../migrate/records/record.ts'
import { readTls, type TlsFiles } from '../config/certificates.ts'
import { TLS_KEYS } from '../config/contradictions.ts'
import { changedBetween, whyRestart } from '../config/live.ts'
import type { Config } from '../config/settings.ts'
import { createHeldLog, createLog } from '../server/process.ts'
import type { Server } from '../server/server.ts'
import { FAILED, type Flags, type Io, lacksFixes } from './command.ts'
import { configFrom, configPath } from './flags.ts'

/** Milliseconds between two reads of the file. Polling works on every file system, even if a mount is replaced. */
const EVERY = 250

/** What is followed while the program runs. */
interface Watch {
  /** Looks at once, as SIGHUP asks. */
  readonly look: () => void
  readonly end: () => void
}

/**
 * Calls `look` when two reads in a row agree and differ from the content at the last call. So it never sees a file half written, and it
 * sees changes made since the start.
 */
function whenSettled(path: string, look: () => void): Watch {
  let before: string | undefined
  let looked: string | undefined
  const lookAt = (content: string) => {
    looked = content
    look()
  }
  const timer = setInterval(() => {
    const now = contentOf(path)
    if (now === before && now !== looked) lookAt(now)
    before = now
  }, EVERY)
  timer.unref()
  return { look: () => lookAt(contentOf(path)), end: () => clearInterval(timer) }
}

function contentOf(path: string): string {
  try {
    return smallFile(path)
  } catch (error) {
    return String(error)
  }
}

/**
 * Calls `changed` when the files of TLS hold something else than what the server was made of. A wrong file changes nothing; the reason is
 * printed. Key and certificate are written one after the other, so that it may be printed while they change.
 */
export function watchCertificates(config: Config, started: TlsFiles, io: Pick<Io, 'err'>, changed: () => void): Watch {
  const paths = [...new Set(TLS_KEYS.flatMap((key) => config[key] ?? []))]
  if (paths.length === 0) return { look: () => {}, end: () => {} }
  let known = started
  const look = () => {
    try {
      const now = readTls(config)
      if (isDeepStrictEqual(now, known)) return
      known = now
      changed()
    } catch (error) {
      io.err(`The certificates stay as they were. ${(error as Error).message}.`)
    }
  }
  const files = paths.map((path) => whenSettled(path, look))
  return {
    look,
    end() {
      for (const { end } of files) end()
    },
  }
}

type WatchedServer = Pick<Server, 'changeModes' | 'sharesModes' | 'reload'>

/**
 * Follows the configuration file. New modes and other live settings apply from the next request on; modes that replicas share are proposed
 * to all. Every other setting is named, because it applies from the next start. A wrong file changes nothing; the reason is printed.
 * Without a file it only looks when it is asked to: a token may come from a file of its own. `started` is what the process started with.
 */
export function watchConfig(flags: Flags, io: Omit<Io, 'tables'>, server: WatchedServer, started: Config): Watch {
  const path = configPath(flags, io)
  const by: Actor = { source: 'file', ...(path !== undefined && { path }) }
  /** What the file said before. */
  let known = started
  const look = () => {
    const loaded = configFrom(flags, io)
    if ('problem' in loaded) return io.err(`The configuration stays as it was. ${loaded.problem}`)
    const { config } = loaded
    const { live, restart } = changedBetween(known, config)
    const names = Object.keys(live)
    const problem = names.length === 0 ? undefined : server.reload(live, by)
    if (problem !== undefined) return io.err(`The configuration stays as it was. ${problem}`)
    if (names.length > 0) io.out(`Active from now on: ${names.join(', ')}.`)
    const pending = restart.filter((key) => !isDeepStrictEqual(config[key], started[key]))
    for (const key of pending) io.err(`${key} changed: restart to use it, because ${whyRestart(key)}.`)
    const isSame = isDeepStrictEqual(config.modes, known.modes)
    const wrong = isSame ? undefined : server.changeModes(config.modes, by)
    known = wrong === undefined ? config : { ...config, modes: known.modes }
    if (wrong !== undefined) return io.err(`The modes stay as they were. ${wrong}`)
    if (isSame) return
    const text = describeRules(config.modes)
    io.out(server.sharesModes ? `The modes of the file are proposed to all replicas: ${text}.` : `The modes are now: ${text}.`)
  }
  return path === undefined ? { look, end: () => {} } : whenSettled(path, look)
}

/** The log of a command that runs until it is stopped. `release` is called when it has printed where it serves. */
export function openLog(config: Config, { screen }: Pick<Io, 'screen'>): ReturnType<typeof createHeldLog> {
  return screen ? createHeldLog(config) : { log: createLog(config), release: () => {} }
}

type StayingLog = Pick<Logger, 'fatal' | 'warn' | 'info'>

/**
 * Runs a server until the process is asked to stop, then takes it out of service. SIGHUP makes it look at what it watches.
 * An uncaught exception ends it in the same way as a signal to stop, because it leaves an unknown state: one fatal log line, an orderly
 * close, exit code 1. The log first warns of a Node without security fixes.
 */
export async function stay(server: Pick<Server, 'close'>, log: StayingLog, io: Io, watches: readonly Watch[]): Promise<number> {
  const old = lacksFixes(process.version)
  if (old !== undefined) log.warn(old)
  let isOver = false
  io.onHangup?.(() => {
    if (isOver) return
    log.info('SIGHUP came: the settings are read again')
    for (const { look } of watches) look()
  })
  const escaped = await Promise.race([io.untilStopped(), io.untilEscaped()])
  if (escaped !== undefined) log.fatal({ err: escaped }, 'an exception escaped; what is under way may finish, then the process ends')
  isOver = true
  for (const { end } of watches) end()
  await server.close()
  return escaped === undefined ? 0 : FAILED
}
