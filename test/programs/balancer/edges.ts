import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../../stage/clocks.ts'
import { freePort } from '../../stage/upstream.ts'

/** Where the services are on this machine. Both proxies listen on the same two ports, of 127.0.0.1 and of 127.0.0.2. */
export interface Places {
  /** Port of the proxies, and of their admin ports. */
  readonly port: number
  readonly adminPort: number
  /** Address and port of v1. */
  readonly v1: string
}

/** Texts of the shipped files and what stands for them on this machine. Each must occur. */
export type Edits = readonly (readonly [shipped: string, here: string])[]

/** A program that is shipped with a configuration to stand in front of v1 and the proxies. */
export interface Edge {
  readonly name: string
  readonly folder: string
  readonly version: readonly string[]
  /** Arguments with which the program checks its configuration; undefined if it does so at its start only. */
  readonly check?: (directory: string) => readonly string[]
  readonly argv: (directory: string) => readonly string[]
  readonly edits: (here: Places & { readonly directory: string; readonly listen: number }) => Edits
  /** The text whose number is the share of Crosswalk in percent. */
  readonly share: (percent: number) => string
  /** Whether a caller stays on one side. */
  readonly keepsCallers: boolean
}

export interface RunningEdge {
  readonly url: string
  stop(): Promise<void>
}

/** Whether the program is installed; says so if it is not. */
export function hasEdge({ name, version }: Edge): boolean {
  try {
    execFileSync(name, version, { stdio: 'ignore' })
    return true
  } catch {
    console.warn(`SKIPPED: ${name} is not installed`)
    return false
  }
}

/** Runs the program on the shipped files, in which addresses and the share are changed and nothing else. Throws what it complains of. */
export async function startEdge(edge: Edge, places: Places, percent = 50): Promise<RunningEdge> {
  const directory = mkdtempSync(join(tmpdir(), `crosswalk-${edge.name}-`))
  const listen = await freePort()
  const edits = [...edge.edits({ ...places, directory, listen }), [edge.share(50), edge.share(percent)] as const]
  const texts = readdirSync(edge.folder).map((name) => [name, readFileSync(join(edge.folder, name), 'utf8')] as const)
  const missing = edits.filter(([shipped]) => !texts.some(([, text]) => text.includes(shipped)))
  if (missing.length > 0) throw new Error(`${edge.folder} does not contain ${missing.map(([shipped]) => `"${shipped}"`).join(', ')}`)
  for (const [name, text] of texts) {
    const here = edits.reduce((all, [from, to]) => all.replaceAll(from, to), text)
    const left = here.split('\n').find((line) => !/^\s*#/.test(line) && /\b80(?:80|81|90|00)\b/.test(line))
    if (left !== undefined) throw new Error(`${name} keeps a port as shipped: ${left.trim()}`)
    writeFileSync(join(directory, name), here)
  }
  if (edge.check) execFileSync(edge.name, edge.check(directory), { stdio: 'pipe' })
  const child = spawn(edge.name, edge.argv(directory), { stdio: 'ignore' })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const url = `http://127.0.0.1:${listen}`
  const stop = async () => {
    child.kill('SIGKILL')
    await ended
    rmSync(directory, { recursive: true, force: true })
  }
  await until(async () => (await fetch(`${url}/ping/v1/ping`)).ok, `${edge.name} answers`).catch(async (error) => {
    await stop()
    throw error
  })
  return { url, stop }
}

const haproxy: Edge = {
  name: 'haproxy',
  folder: 'docker/haproxy',
  version: ['-v'],
  check: (directory) => ['-c', '-f', `${directory}/haproxy.cfg`],
  argv: (directory) => ['-db', '-f', `${directory}/haproxy.cfg`],
  edits: ({ directory, listen, port, adminPort, v1 }) => [
    ['/etc/haproxy/', `${directory}/`],
    ['bind :8000\n', `bind 127.0.0.1:${listen}\n`],
    [' crosswalk-1:8080', ` 127.0.0.1:${port}`],
    [' crosswalk-2:8080', ` 127.0.0.2:${port}`],
    [' port 8081', ` port ${adminPort}`],
    [' v1:8090', ` ${v1}`],
  ],
  share: (percent) => `-m int lt ${percent} }`,
  keepsCallers: true,
}

const envoy: Edge = {
  name: 'envoy',
  folder: 'docker/envoy',
  version: ['--version'],
  check: (directory) => ['--mode', 'validate', '-c', `${directory}/envoy.yaml`],
  argv: (directory) => ['-c', `${directory}/envoy.yaml`, '--concurrency', '1', '--use-dynamic-base-id', '-l', 'error'],
  edits: ({ listen, port, adminPort, v1 }) => [
    ['address: 127.0.0.1, port_value: 9901', 'address: 127.0.0.1, port_value: 0'],
    ['address: 0.0.0.0, port_value: 8000', `address: 127.0.0.1, port_value: ${listen}`],
    ['address: crosswalk-1, port_value: 8080', `address: 127.0.0.1, port_value: ${port}`],
    ['address: crosswalk-2, port_value: 8080', `address: 127.0.0.2, port_value: ${port}`],
    ['port_value: 8081', `port_value: ${adminPort}`],
    ['address: v1, port_value: 8090', `address: ${v1.replace(':', ', port_value: ')}`],
  ],
  share: (percent) => `- { name: crosswalk, weight: ${percent} }\n                                - { name: v1, weight: ${100 - percent} }`,
  keepsCallers: true,
}

const traefik: Edge = {
  name: 'traefik',
  folder: 'docker/traefik',
  version: ['version'],
  argv: (directory) => [`--configFile=${directory}/traefik.yaml`],
  edits: ({ directory, listen, port, adminPort, v1 }) => [
    ['/etc/traefik/routing.yaml', `${directory}/routing.yaml`],
    ['":8000"', `"127.0.0.1:${listen}"`],
    ['//crosswalk-1:8080', `//127.0.0.1:${port}`],
    ['//crosswalk-2:8080', `//127.0.0.2:${port}`],
    ['port: 8081', `port: ${adminPort}`],
    ['//v1:8090', `//${v1}`],
  ],
  share: (percent) => `- { name: crosswalk, weight: ${percent} }\n          - { name: v1, weight: ${100 - percent} }`,
  keepsCallers: false,
}

export const EDGES: readonly Edge[] = [haproxy, envoy, traefik]
