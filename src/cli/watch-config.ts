import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { type Config, SETTING_KEYS } from '../config/settings.ts'
import { describeRules } from '../modes/choose/rules-text.ts'
import type { Server } from '../server.ts'
import type { Flags, Io } from './command.ts'
import { configFrom, configPath } from './config-flags.ts'

/** Milliseconds between two reads of the file. Polling works on every file system, even if a mount is replaced. */
const EVERY = 250

/**
 * Follows the configuration file. New modes apply from the next request on, other settings from the next start. A wrong file changes
 * nothing; the reason is printed. The returned function stops watching.
 */
export function watchConfig(flags: Flags, io: Io, server: Pick<Server, 'changeModes'>, started: Config): () => void {
  const path = configPath(flags, io)
  if (!path) return () => {}
  let known = started
  const look = () => {
    const loaded = configFrom(flags, io)
    if ('problem' in loaded) return io.err(`The configuration stays as it was. ${loaded.problem}`)
    const { config } = loaded
    const problem = isDeepStrictEqual(config.modes, known.modes) ? undefined : change(config, path, server, io)
    if (problem !== undefined) return io.err(`The modes stay as they were. ${problem}`)
    const waiting = SETTING_KEYS.filter((key) => key !== 'modes' && !isDeepStrictEqual(config[key], known[key]))
    if (waiting.length > 0) io.err(`Changed at the next start only: ${waiting.join(', ')}.`)
    known = config
  }
  return whenSettled(path, look)
}

/**
 * Calls `look` when two reads in a row agree and differ from the content at the last call. So it never sees a file half written, and it
 * sees changes made since the start. The returned function stops it.
 */
function whenSettled(path: string, look: () => void): () => void {
  let before: string | undefined
  let looked: string | undefined
  const timer = setInterval(() => {
    const now = contentOf(path)
    if (now === before && now !== looked) {
      looked = now
      look()
    }
    before = now
  }, EVERY)
  timer.unref()
  return () => clearInterval(timer)
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    return String(error)
  }
}

function change({ modes }: Config, path: string, server: Pick<Server, 'changeModes'>, io: Io): string | undefined {
  const problem = server.changeModes(modes, { source: 'file', path })
  if (problem === undefined) io.out(`The modes are now: ${describeRules(modes)}.`)
  return problem
}
