import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK } from 'jose'

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

/** An identity provider with what a test wants wrong. */
export class Issuer {
  keys: JWK[] = []
  asked: string[] = []
  /** Answers in place of a path. */
  instead: Readonly<Record<string, (response: ServerResponse) => void>> = {}
  url = ''
  readonly #server = createServer((request, response) => this.#answer(request, response))

  async listen() {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
    return this
  }

  #answer({ url = '' }: IncomingMessage, response: ServerResponse) {
    this.asked.push(url)
    const instead = this.instead[url]
    if (instead) instead(response)
    else if (url === '/.well-known/openid-configuration') json(response, { issuer: this.url, jwks_uri: `${this.url}/keys` })
    else json(response, { keys: this.keys })
  }

  async close() {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

export const json = (response: ServerResponse, body: unknown) =>
  void response.setHeader('content-type', 'application/json').end(JSON.stringify(body))

/** A pair of keys, and the public one as an issuer publishes it. */
export interface Pair {
  readonly kid: string
  readonly privateKey: CryptoKey
  readonly publicKey: CryptoKey
  readonly jwk: JWK
}

export async function pairOf(kid: string, alg = 'ES256'): Promise<Pair> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  return { kid, privateKey, publicKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } }
}

/** A self-signed certificate, made for these tests only. */
export const selfSigned = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg26IUkJybPNn1OpM2
aXUL3d2oJXDXdwvzfEjFjPtXVPuhRANCAAQi8J4Y+7zjnWuYRW2uy0q0VQWE/Ilb
QZP/HCbZVQiroRXFyfUqJwSq/m1CjKyfdGt9k6aO0KrWxS494XBytmLU
-----END PRIVATE KEY-----
`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBkDCCATagAwIBAgIUOMCcYzU7bMOsxdSTFBquErk1IDUwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMDA3NDgzOFoYDzIxMjYxMDI3
MDc0ODM4WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQi8J4Y+7zjnWuYRW2uy0q0VQWE/IlbQZP/HCbZVQiroRXFyfUqJwSq
/m1CjKyfdGt9k6aO0KrWxS494XBytmLUo2QwYjAdBgNVHQ4EFgQU5/snmQlQp3Mo
orp+0Kx/xpvyOAIwHwYDVR0jBBgwFoAU5/snmQlQp3Moorp+0Kx/xpvyOAIwDwYD
VR0TAQH/BAUwAwEB/zAPBgNVHREECDAGhwR/AAABMAoGCCqGSM49BAMCA0gAMEUC
IDtJaqVjQmxBZT0qyoG96l7GD4uVWP18sPiqlOXWXEdJAiEAg0q4mENRDEhpQbdD
TLIoxiMZtxi5iQqNS8td7OZcbJY=
-----END CERTIFICATE-----
`,
}
