import type { Logger } from 'pino'
import type { Server } from '../server.ts'
import { FAILED, type Io } from './command.ts'
import { lacksFixes } from './node-version.ts'
import type { Watch } from './serve/settled-file.ts'

type StayingLog = Pick<Logger, 'fatal' | 'warn' | 'info'>

/**
 * Runs a server until the process is asked to stop, then takes it out of service. SIGHUP makes it look at what it watches.
 * An uncaught exception ends it in the same way as a signal to stop, because it leaves an unknown state: one fatal log line, an orderly
 * close, exit code 1. The log first warns of a Node without security fixes.
 */
export async function stay(server: Pick<Server, 'close'>, log: StayingLog, io: Io, watches: readonly Watch[]): Promise<number> {
  const old = lacksFixes(process.version)
  if (old !== undefined) log.warn(old)
  io.onHangup?.(() => {
    log.info('SIGHUP came: the settings are read again')
    for (const { look } of watches) look()
  })
  const escaped = await Promise.race([io.untilStopped(), io.untilEscaped()])
  if (escaped !== undefined) log.fatal({ err: escaped }, 'an exception escaped; what is under way may finish, then the process ends')
  for (const { end } of watches) end()
  await server.close()
  return escaped === undefined ? 0 : FAILED
}
