import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse, parseAllDocuments } from 'yaml'
import { loadConfig } from '../../src/app/config/config.ts'
import type { Config } from '../../src/app/config/settings.ts'

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
