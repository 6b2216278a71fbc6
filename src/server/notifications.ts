import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { createNotifier, createReceiver, createSign, type Notifier, ROOM } from '../admin/notify.ts'
import { notifySettings } from '../config/notify-settings.ts'
import type { Config } from '../config/settings.ts'
import type { IdentifiedNote } from '../migrate/modes/journal.ts'

/** Passes notes on; `ended` is called when somebody was told of one. */
type NoteStream = (listener: (note: IdentifiedNote, ended?: () => void) => void) => void

/** Builds the notifier of the settings, which tells of all notes that it gets; undefined without `notify.url`. */
export function openNotifier(config: Config, onNote: NoteStream, log: Logger): Notifier | undefined {
  const { url, secrets, source = `urn:crosswalk:${encodeURIComponent(hostname())}`, timeoutMs, attempts } = notifySettings(config)
  if (url === undefined) return undefined
  const notifier = createNotifier({
    receiver: createReceiver(url, timeoutMs),
    sign: createSign(secrets),
    ...{ source, attempts, room: ROOM },
    now: Date.now,
    random: Math.random,
    pause: (ms, signal) => delay(ms, undefined, { signal, ref: false }).catch(() => {}),
    warn: (text) => log.warn(text),
  })
  onNote(notifier.tell)
  return notifier
}
