import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { type Config, SETTING_KEYS } from '../config/settings.ts'
import { FILE_FLAG } from '../config.ts'
import { describeRules } from '../modes/choose/rules.ts'
import type { Server } from '../server.ts'
import { type Flags, type Io, textOf } from './command.ts'
import { configFrom } from './config-flags.ts'

/** Milliseconds between two looks at the file. Looking works on every file system, also where a mount is swapped under the file. */
const EVERY = 250

/**
 * Follows the configuration file: new modes are in force from the next request on, other settings at the next start. A file that is wrong
 * changes nothing and is named with its reason. The function returned stops it.
 */
export function watchConfig(flags: Flags, io: Io, server: Pick<Server, 'changeModes'>, started: Config): () => void {
  const path = textOf(flags, FILE_FLAG) ?? io.env.CROSSWALK_CONFIG
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
 * Calls `look` when the file reads the same twice and otherwise than at the last call: never in the middle of a write, and also for what
 * was written since the start. The function returned stops it.
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
  const problem = server.changeModes(modes, `file ${path}`)
  if (problem === undefined) io.out(`The modes are now: ${describeRules(modes)}.`)
  return problem
}
