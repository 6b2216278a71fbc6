import { secretsIn } from './notify-kinds.ts'
import type { Config } from './settings.ts'

/** The settings of the notifier. */
export function notifySettings(config: Config) {
  return {
    url: config['notify.url'],
    secrets: secretsIn(config['notify.secret'] ?? ''),
    source: config['notify.source'],
    timeoutMs: config['notify.timeoutMs'],
    attempts: config['notify.attempts'],
  }
}
