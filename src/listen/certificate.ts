import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { named, systemReason } from '../errors.ts'

/** A private key and its certificate chain as PEM texts. */
export interface Certificate {
  readonly key: string
  readonly cert: string
}

/** Reads the two files; undefined if neither is set. Throws a sentence if they are not a usable pair. */
export function readCertificate(keyFile: string | undefined, certFile: string | undefined): Certificate | undefined {
  if (keyFile === undefined && certFile === undefined) return undefined
  if (keyFile === undefined || certFile === undefined) throw new Error('tls.key and tls.cert go together: set both, or none for plain text')
  const certificate = { key: read('tls.key', keyFile), cert: read('tls.cert', certFile) }
  try {
    // An empty file is no key, but the context would accept it.
    createPrivateKey(certificate.key)
    expiryOf(certificate)
    createSecureContext(certificate)
  } catch (error) {
    throw new Error(`tls.key (${keyFile}) and tls.cert (${certFile}) are not a key and its certificate in PEM: ${(error as Error).message}`)
  }
  return certificate
}

/** Returns the time after which clients refuse the certificate, in seconds since the epoch. */
export function expiryOf({ cert }: Certificate): number {
  return Date.parse(new X509Certificate(cert).validTo) / 1000
}

function read(setting: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new Error(`${setting} cannot be read: ${systemReason(named(error, path))}`)
  }
}
