import type { Logger } from 'pino'
import type { Server } from '../server.ts'
import { FAILED, type Io } from './command.ts'
import { lacksFixes } from './node-version.ts'

/**
 * Keeps a server until the process is asked to stop, and takes it out of service then. An exception that nobody caught ends it in the same
 * way, because nobody knows what it left undone: one fatal log line, and exit code 1 once everything under way has had its time. First the
 * log warns of a Node without security fixes.
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
