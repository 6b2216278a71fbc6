import { createPrivateKey, X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import { named, systemReason } from '../../errors.ts'
import { smallFile } from '../../files.ts'
import { type Certificate, expiryOf } from '../../serve/listen/listener.ts'
import { createDial, type Dial, type Identity } from '../../serve/upstream/dial.ts'
import { listOf, withoutSecrets } from './kinds.ts'
import type { Config, SettingKey } from './settings.ts'

/** The settings that name files of TLS, by whom they are shown to. */
const FILES = {
  clients: { key: 'tls.key', cert: 'tls.cert', ca: 'tls.clientCa' },
  v2: { key: 'upstream.v2Key', cert: 'upstream.v2Cert', ca: 'upstream.v2Ca' },
  v1: { key: 'upstream.v1Key', cert: 'upstream.v1Cert', ca: 'upstream.v1Ca' },
} as const satisfies Readonly<Record<string, Readonly<Record<'key' | 'cert' | 'ca', SettingKey>>>>

type Party = keyof typeof FILES
type TlsKey = (typeof FILES)[Party][keyof (typeof FILES)[Party]]

/** The settings of TLS; a running proxy follows their files. */
export const TLS_KEYS = Object.values(FILES).flatMap((files) => Object.values(files)) as readonly TlsKey[]

type TlsConfig = Pick<Config, TlsKey | 'upstream.v1' | 'upstream.v2'>

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

function whyHalf(config: TlsConfig, party: Party): string | undefined {
  const { key, cert } = FILES[party]
  if ((config[key] === undefined) === (config[cert] === undefined)) return undefined
  return `${key} and ${cert} go together: set both, or none ${party === 'clients' ? 'for plain text' : 'to show no certificate'}`
}

/** Returns one sentence for settings of TLS that contradict each other or have no use. */
export function tlsContradiction(config: TlsConfig): string | undefined {
  for (const party of Object.keys(FILES) as Party[]) {
    const half = whyHalf(config, party)
    if (half !== undefined) return `${half}.`
  }
  if (config['tls.clientCa'] !== undefined && config['tls.cert'] === undefined) {
    return 'tls.clientCa is set without tls.cert, so the port speaks plain text and asks no client for a certificate; set tls.key and tls.cert.'
  }
  for (const service of ['v2', 'v1'] as const) {
    const base = config[`upstream.${service}`]
    const set = Object.values(FILES[service]).find((key) => config[key] !== undefined)
    // Without upstream.v2 no start gets here.
    if (set === undefined || (base === undefined && service === 'v2')) continue
    if (base === undefined) return `${set} is set without upstream.${service}, so nobody would use it; set both or none.`
    if (!base.startsWith('https:')) return `${set} is set, but upstream.${service} (${base}) speaks plain text; give it as https://.`
  }
  return sharesAnOrigin(config)
}

/** One pool of connections serves both services, so that one origin has one identity. */
function sharesAnOrigin(config: TlsConfig): string | undefined {
  const { 'upstream.v1': v1, 'upstream.v2': v2 } = config
  if (v1 === undefined || v2 === undefined || new URL(v1).origin !== new URL(v2).origin) return undefined
  const other = (['ca', 'cert', 'key'] as const).find((file) => config[FILES.v1[file]] !== config[FILES.v2[file]])
  if (other === undefined) return undefined
  return `upstream.v1 and upstream.v2 are one origin, but ${FILES.v1[other]} and ${FILES.v2[other]} differ; give both the same file.`
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
