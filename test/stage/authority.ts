import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const EC = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']

/** The files of a key and its certificate, and what they hold. */
export interface Issued {
  readonly key: string
  readonly cert: string
  readonly pem: { readonly key: string; readonly cert: string }
}

/** An authority that signs certificates, for one test. */
export interface Authority {
  /** The file of its own certificate, and what it holds. */
  readonly ca: string
  readonly pem: string
  /** Signs a certificate for a name; it holds for this machine and for `v2.test` too. */
  issue(name: string): Issued
}

/** A folder of authorities. */
export function openAuthorities(): { readonly folder: string; authority(name: string): Authority; close(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-authority-'))
  const openssl = (...args: readonly string[]) => execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'] })
  const make = (name: string, ...more: readonly string[]): Issued => {
    const key = join(folder, `${name}.key`)
    const cert = join(folder, `${name}.crt`)
    openssl('req', '-x509', ...EC, '-subj', `/CN=${name}`, '-keyout', key, '-out', cert, ...more)
    return { key, cert, pem: { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') } }
  }
  return {
    folder,
    authority(name) {
      const own = make(name)
      const names = 'subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:v2.test'
      const signed = ['-CA', own.cert, '-CAkey', own.key, '-addext', names, '-addext', 'basicConstraints=critical,CA:FALSE']
      return { ca: own.cert, pem: own.pem.cert, issue: (whose) => make(whose, ...signed) }
    },
    close: () => rmSync(folder, { recursive: true }),
  }
}

/** Puts one file into the place of another at once. */
export const replace = (path: string, by: string) => renameSync(by, path)
