import type { Logger } from 'pino'
import type { Server } from '../server.ts'
import { FAILED, type Io } from './command.ts'
import { lacksFixes } from './node-version.ts'

/**
 * Runs a server until the process is asked to stop, then takes it out of service. An uncaught exception ends it in the same way, because it
 * leaves an unknown state: one fatal log line, an orderly close, exit code 1. The log first warns of a Node without security fixes.
 */
export async function stay(server: Pick<Server, 'close'>, log: Pick<Logger, 'fatal' | 'warn'>, io: Io, leave: () => void): Promise<number> {
  const old = lacksFixes(process.version)
  if (old !== undefined) log.warn(old)
  const escaped = await Promise.race([io.untilStopped(), io.untilEscaped()])
  if (escaped !== undefined) log.fatal({ err: escaped }, 'an exception escaped; what is under way may finish, then the process ends')
  leave()
  await server.close()
  return escaped === undefined ? 0 : FAILED
}
