import { isDeepStrictEqual } from 'node:util'
import { changedBetween, whyRestart } from '../../config/live/live-settings.ts'
import type { Config } from '../../config/settings.ts'
import { describeRules } from '../../migrate/modes/rules.ts'
import type { Server } from '../../server.ts'
import type { Flags, Io } from '../command.ts'
import { configFrom, configPath } from '../config-flags.ts'
import { type Watch, whenSettled } from './settled-file.ts'

type WatchIo = Omit<Io, 'tables'>
type WatchedServer = Pick<Server, 'changeModes' | 'sharesModes' | 'reload'>

/**
 * Follows the configuration file. New modes and other live settings apply from the next request on; modes that replicas share are proposed
 * to all. Every other setting is named, because it applies from the next start. A wrong file changes nothing; the reason is printed.
 * Without a file it only looks when it is asked to: a token may come from a file of its own.
 */
export function watchConfig(flags: Flags, io: WatchIo, server: WatchedServer, started: Config): Watch {
  const path = configPath(flags, io)
  let known = started
  const look = () => {
    const loaded = configFrom(flags, io)
    if ('problem' in loaded) return io.err(`The configuration stays as it was. ${loaded.problem}`)
    const { config } = loaded
    const problem = take(config, known, server, io)
    if (problem !== undefined) return io.err(`The configuration stays as it was. ${problem}`)
    const wrongModes = isDeepStrictEqual(config.modes, known.modes) ? undefined : change(config, path ?? '', server, io)
    if (wrongModes !== undefined) io.err(`The modes stay as they were. ${wrongModes}`)
    known = wrongModes === undefined ? config : { ...config, modes: known.modes }
  }
  return path === undefined ? { look, end: () => {} } : whenSettled(path, look)
}

/** Hands over what changed and is live, and names the rest. Returns why nothing is taken. */
function take(config: Config, known: Config, server: WatchedServer, io: WatchIo): string | undefined {
  const { live, restart } = changedBetween(known, config)
  const names = Object.keys(live)
  const problem = names.length === 0 ? undefined : server.reload(live)
  if (problem !== undefined) return problem
  if (names.length > 0) io.out(`In force from now on: ${names.join(', ')}.`)
  for (const key of restart) io.err(`${key} changed: restart to use it, because ${whyRestart(key)}.`)
  return undefined
}

function change({ modes }: Config, path: string, server: WatchedServer, io: Omit<Io, 'tables'>): string | undefined {
  const problem = server.changeModes(modes, { source: 'file', path })
  if (problem !== undefined) return problem
  const text = describeRules(modes)
  io.out(server.sharesModes ? `The modes of the file are proposed to all replicas: ${text}.` : `The modes are now: ${text}.`)
  return undefined
}
