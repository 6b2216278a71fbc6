import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK } from 'jose'

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
