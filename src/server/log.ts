import pino, { type Logger } from 'pino'
import type { Config } from '../config/settings.ts'

export function createLog(config: Config): Logger {
  return pino({ level: config['log.level'], base: null }, pino.destination({ dest: 2, sync: true }))
}
