import { isDeepStrictEqual } from 'node:util'
import { type Config, SETTING_KEYS } from '../../config/settings.ts'
import { describeRules } from '../../modes/choose/rules-text.ts'
import type { Server } from '../../server.ts'
import type { Flags, Io } from '../command.ts'
import { configFrom, configPath } from '../config-flags.ts'
import { UNWATCHED, type Watch, whenSettled } from './settled-file.ts'

type WatchedServer = Pick<Server, 'changeModes' | 'sharesModes'>

/**
 * Follows the configuration file. New modes apply from the next request on, or are proposed to all replicas that share them. Other settings
 * apply from the next start. A wrong file changes nothing; the reason is printed.
 */
export function watchConfig(flags: Flags, io: Omit<Io, 'tables'>, server: WatchedServer, started: Config): Watch {
  const path = configPath(flags, io)
  if (!path) return UNWATCHED
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

function change({ modes }: Config, path: string, server: WatchedServer, io: Omit<Io, 'tables'>): string | undefined {
  const problem = server.changeModes(modes, { source: 'file', path })
  if (problem !== undefined) return problem
  const text = describeRules(modes)
  io.out(server.sharesModes ? `The modes of the file are proposed to all replicas: ${text}.` : `The modes are now: ${text}.`)
  return undefined
}
