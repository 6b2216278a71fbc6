import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse, parseAllDocuments } from 'yaml'
import { loadConfig } from '../../src/app/config/config.ts'
import type { Config } from '../../src/app/config/settings.ts'
import { type Ran, runCommand } from '../app/cli/support.ts'
import { openAuthorities } from '../stage/authority.ts'

/** The part of docker/compose.yaml that is looked at here. */
export interface ComposeService {
  readonly image: string
  readonly environment?: Readonly<Record<string, string>>
  readonly stop_grace_period?: string
  readonly networks?: Readonly<Record<string, { readonly ipv4_address?: string; readonly aliases?: readonly string[] }>>
  readonly [member: string]: unknown
}

export interface Compose {
  readonly services: Readonly<Record<string, ComposeService>>
  readonly networks: Readonly<Record<string, { readonly ipam?: { readonly config: readonly Readonly<Record<string, string>>[] } }>>
}

/** The file as compose reads it if no variable is set. */
export function compose(): Compose {
  return parse(readFileSync('docker/compose.yaml', 'utf8').replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1'), { merge: true })
}

export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  // biome-ignore lint/suspicious/noExplicitAny: validated against the schema of its kind before anything is read
  readonly [member: string]: any
}

/** The folder with what every cluster needs. */
export const BASE = 'docker/kubernetes/base'

/** Every manifest of the base, by its kind. */
export function manifests(): Readonly<Record<string, Manifest>> {
  const { resources } = parse(readFileSync(join(BASE, 'kustomization.yaml'), 'utf8')) as { readonly resources: readonly string[] }
  const all = resources.map((name) => parse(readFileSync(join(BASE, name), 'utf8')) as Manifest)
  return Object.fromEntries(all.map((manifest) => [manifest.kind, manifest]))
}

/** The manifests in a text of YAML documents. */
export function manifestsIn(text: string): readonly Manifest[] {
  return parseAllDocuments(text).flatMap((document) => (document.toJS() as Manifest | null) ?? [])
}

/** The configuration that environment variables and a file make; fails with the sentence that `serve` would print. */
export function configOf(env: Readonly<Record<string, string>>, file?: string): Config {
  const directory = mkdtempSync(join(tmpdir(), 'crosswalk-docker-'))
  try {
    const path = join(directory, 'crosswalk.json')
    if (file !== undefined) writeFileSync(path, file)
    const loaded = loadConfig({ flags: file === undefined ? {} : { config: path }, env })
    if ('problem' in loaded) throw new Error(loaded.problem)
    return loaded.config
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/** The variables that the kubelet makes of a Service (pkg/kubelet/envvars). */
function linksOf(name: string): Readonly<Record<string, string>> {
  const variable = name.toUpperCase().replaceAll('-', '_')
  const [host, port] = ['10.96.1.2', '8080']
  return {
    [`${variable}_SERVICE_HOST`]: host,
    [`${variable}_SERVICE_PORT`]: port,
    [`${variable}_SERVICE_PORT_HTTP`]: port,
    ...Object.fromEntries(
      ['tcp', 'udp', 'sctp'].flatMap((protocol) => [
        [`${variable}_PORT`, `${protocol}://${host}:${port}`],
        [`${variable}_PORT_${port}_${protocol.toUpperCase()}`, `${protocol}://${host}:${port}`],
        [`${variable}_PORT_${port}_${protocol.toUpperCase()}_PROTO`, protocol],
        [`${variable}_PORT_${port}_${protocol.toUpperCase()}_PORT`, port],
        [`${variable}_PORT_${port}_${protocol.toUpperCase()}_ADDR`, host],
      ]),
    ),
  }
}

/** Names of Services that a namespace may have besides those that the manifests bring. */
const OTHER_SERVICES = ['crosswalk', 'crosswalk-admin', 'crosswalk-redis', 'crosswalk-store', 'crosswalk-canary', 'crosswalk-sandbox']

/**
 * What `serve --check` says in the pod of these manifests, started as the kubelet starts it: with its files, its Secrets and the variables of
 * the Services around it. `links` overrides what the pod says of them.
 */
export async function checkInPod(all: readonly Manifest[], links?: boolean): Promise<Ran> {
  const pod = all.find(({ kind }) => kind === 'Deployment')?.spec.template.spec
  const [container] = pod.containers
  const root = mkdtempSync(join(tmpdir(), 'crosswalk-pod-'))
  try {
    const mounts: readonly { name: string; mountPath: string }[] = container.volumeMounts
    const inRoot = (text: string) =>
      mounts.reduce((known, { mountPath }) => known.replaceAll(new RegExp(`(?<![\\w/])${mountPath}/`, 'g'), `${root}${mountPath}/`), text)
    for (const { name, mountPath } of mounts) {
      mkdirSync(join(root, mountPath), { recursive: true })
      const { configMap, secret } = pod.volumes.find((volume: { name: string }) => volume.name === name)
      const known = all.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === configMap?.name)
      const data = known?.data ?? (configMap || secret ? filesOfOthers() : {})
      for (const [file, text] of Object.entries(data)) writeFileSync(join(root, mountPath, file), inRoot(String(text)))
    }
    const services = [...OTHER_SERVICES, ...all.filter(({ kind }) => kind === 'Service').map(({ metadata }) => metadata.name)]
    const env: Record<string, string> = (links ?? pod.enableServiceLinks ?? true) ? Object.assign({}, ...services.map(linksOf)) : {}
    for (const { name, value, valueFrom } of container.env) {
      const set = value ?? textFrom(valueFrom)
      env[name] = inRoot(set.replaceAll(/\$\((\w+)\)/g, (_: string, other: string) => env[other]))
    }
    return await runCommand(['serve', '--check'], env)
  } finally {
    rmSync(root, { recursive: true })
  }
}

let others: Readonly<Record<string, string>> | undefined

/** What is in the Secrets and ConfigMaps that the manifests name and do not bring, as a person would fill them. */
function filesOfOthers(): Readonly<Record<string, string>> {
  if (others) return others
  const authorities = openAuthorities()
  const authority = authorities.authority('company')
  const { key, cert } = authority.issue('api.example.com').pem
  const signing = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  others = { 'ca.crt': authority.pem, 'tls.key': key, 'tls.crt': cert, url: 'https://hooks.example.com/crosswalk', secret: signing }
  authorities.close()
  return others
}

interface ValueFrom {
  readonly fieldRef?: { readonly fieldPath: string }
  readonly secretKeyRef?: { readonly name: string; readonly key: string; readonly optional?: boolean }
}

function textFrom({ fieldRef, secretKeyRef }: ValueFrom): string {
  if (fieldRef) return fieldRef.fieldPath
  if (secretKeyRef?.name === 'egress-proxy') return 'http://crosswalk:PASSWORD@egress.example.svc:3128'
  return secretKeyRef?.key === 'url'
    ? 'rediss://crosswalk:PASSWORD@redis.example.svc:6379'
    : `${secretKeyRef?.name}-0123456789-${secretKeyRef?.key}`
}
