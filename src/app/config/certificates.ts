import { createPrivateKey, X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import { named, systemReason } from '../../errors.ts'
import { smallFile } from '../../files.ts'
import { type Certificate, expiryOf } from '../../serve/listen/listener.ts'
import { createDial, type Dial, type Identity } from '../../serve/upstream/dial.ts'
import { FILES, type Party, type TlsConfig, whyHalf } from './contradictions.ts'
import { listOf, withoutSecrets } from './kinds.ts'
import type { Config } from './settings.ts'

/** What the files of TLS hold: what clients are shown, and what the services are. */
export interface TlsFiles {
  readonly port: Certificate | undefined
  /** By the origin of the service. */
  readonly identities: ReadonlyMap<string, Identity>
}

/** Reads all files of TLS. Throws a sentence if one cannot be used. */
export function readTls(config: TlsConfig): TlsFiles {
  const port = readPair(config, 'clients')
  const ca = readAuthorities(config, 'clients')
  const identities = (['v1', 'v2'] as const).flatMap((service): (readonly [string, Identity])[] => {
    const base = config[`upstream.${service}`]
    const identity = { ...readPair(config, service), ...readAuthorities(config, service) }
    return base === undefined || Object.keys(identity).length === 0 ? [] : [[new URL(base).origin, identity]]
  })
  return { port: port && { ...port, ...ca }, identities: new Map(identities) }
}

function readPair(config: TlsConfig, party: Party): Certificate | undefined {
  const { key, cert } = FILES[party]
  const { [key]: keyFile, [cert]: certFile } = config
  const half = whyHalf(config, party)
  if (half !== undefined) throw new Error(half)
  if (keyFile === undefined || certFile === undefined) return undefined
  const pair = { key: read(key, keyFile), cert: read(cert, certFile) }
  try {
    // An empty file is no key, but the context would accept it.
    createPrivateKey(pair.key)
    expiryOf(pair)
    createSecureContext(pair)
  } catch (error) {
    throw new Error(`${key} (${keyFile}) and ${cert} (${certFile}) are not a key and its certificate in PEM: ${systemReason(error)}`)
  }
  return pair
}

const PEM = { begin: '-----BEGIN CERTIFICATE-----', end: '-----END CERTIFICATE-----' }

/** Returns the certificates in a text, each with its two lines. The work grows with the text alone. */
function certificatesIn(text: string): readonly string[] {
  const parts = text.split(PEM.begin).slice(1)
  return parts.flatMap((part) => (part.includes(PEM.end) ? [PEM.begin + part.slice(0, part.indexOf(PEM.end)) + PEM.end] : []))
}

function readAuthorities(config: TlsConfig, party: Party): { readonly ca: string } | undefined {
  const { ca: setting } = FILES[party]
  const { [setting]: path } = config
  if (path === undefined) return undefined
  const ca = read(setting, path)
  try {
    const found = certificatesIn(ca)
    if (found.length === 0) throw new Error('it holds none')
    for (const one of found) new X509Certificate(one)
  } catch (error) {
    throw new Error(`${setting} (${withoutSecrets(path)}) does not hold certificates of authorities in PEM: ${(error as Error).message}`)
  }
  return { ca }
}

function read(setting: string, path: string): string {
  try {
    return smallFile(path)
  } catch (error) {
    throw new Error(`${setting} cannot be read: ${systemReason(named(error, path)).replaceAll(path, withoutSecrets(path))}`)
  }
}

/** Returns how connections to the services of the settings open. */
export function dialOf(config: Config, { identities }: Pick<TlsFiles, 'identities'>): Dial {
  return createDial({
    identities,
    proxy: config['upstream.proxy'],
    noProxy: listOf(config['upstream.noProxy']),
    connectTimeoutMs: config['limits.connectTimeoutMs'],
  })
}
