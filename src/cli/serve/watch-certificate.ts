import { isDeepStrictEqual } from 'node:util'
import type { Config } from '../../config/settings.ts'
import { readCertificate } from '../../serve/listen/listener.ts'
import type { Io } from '../command.ts'
import { UNWATCHED, type Watch, whenSettled } from './settled-file.ts'

/**
 * Calls `changed` when the files of the certificate hold another pair. A wrong pair changes nothing; the reason is printed. Key and
 * certificate are written one after the other, so that it may be printed while they change.
 */
export function watchCertificate({ 'tls.key': key, 'tls.cert': cert }: Config, io: Pick<Io, 'err'>, changed: () => void): Watch {
  if (key === undefined || cert === undefined) return UNWATCHED
  let known = readCertificate(key, cert)
  const look = () => {
    try {
      const now = readCertificate(key, cert)
      if (isDeepStrictEqual(now, known)) return
      known = now
      changed()
    } catch (error) {
      io.err(`The certificate stays as it was. ${(error as Error).message}.`)
    }
  }
  const files = [key, cert].map((path) => whenSettled(path, look))
  return {
    look,
    end() {
      for (const { end } of files) end()
    },
  }
}
