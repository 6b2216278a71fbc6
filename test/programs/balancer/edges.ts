import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../../stage/clocks.ts'
import { hasProgram, PATH } from '../../stage/programs.ts'
import { freePort } from '../../stage/upstream.ts'
import { type Place, startServer } from '../garden/servers.ts'

/** Where the services are on this machine: addresses with their ports, and the port of both admin ports. */
export interface Services {
  readonly crosswalk: readonly [string, string]
  readonly adminPort: number
  readonly v1: string
}

/** Texts of the shipped files and what stands for them on this machine. Each must occur. */
export type Edits = readonly (readonly [shipped: string, here: string])[]

/** A program that is shipped with a configuration to stand in front of v1 and the proxies. */
export interface Edge {
  readonly name: string
  /** Arguments with which the program checks its configuration; undefined if it does so at its start only. */
  readonly check?: (directory: string) => readonly string[]
  readonly argv: (directory: string) => readonly string[]
  /** `rpcPort` is a port for gRPC, if that needs one of its own. */
  readonly edits: (here: Place<Services> & { readonly rpcPort: number }) => Edits
  readonly hasRpcPort?: true
  /** The text whose number is the share of Crosswalk in percent. */
  readonly share: (percent: number) => string
  /** How many of so many callers it sends to Crosswalk at 50 %, and at 80 %: more than the first number, fewer than the second. */
  readonly callers: number
  readonly half: readonly [number, number]
  readonly most: readonly [number, number]
  /** Whether a caller stays on one side. */
  readonly keepsCallers: boolean
  /** Whether it asks the admin port if a proxy drains. */
  readonly asksHealth: boolean
  /** Whether it replaces what clients claim of their address. Others append to it. */
  readonly replacesAddresses: boolean
  readonly end: NodeJS.Signals
}

export const hasEdge = ({ name }: Edge): boolean => hasProgram(name)

export type RunningEdge = Awaited<ReturnType<typeof startEdge>>

/** Runs the program on the shipped files, in which addresses and the given texts are changed and nothing else. Throws what it complains of. */
export async function startEdge(edge: Edge, services: Services, changes: Edits = []) {
  const { name, argv, end, check } = edge
  const rpcPort = await freePort()
  const files = (place: Place<Services>) => shippedFiles(name, [...edge.edits({ ...place, rpcPort }), ...changes])
  const { url, place, stop } = await startServer({ name, program: name, files, argv: ({ directory }) => argv(directory), end }, services)
  try {
    await until(async () => (await fetch(`${url}/ping/v1/ping`)).ok, `${name} answers`)
    const checked = check
      ? execFileSync('sh', ['-c', '"$0" "$@" 2>&1', name, ...check(place.directory)], { encoding: 'utf8', env: { ...process.env, PATH } })
      : ''
    return { url, rpcUrl: edge.hasRpcPort ? `http://127.0.0.1:${rpcPort}` : url, checked, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

function shippedFiles(name: string, edits: Edits): Readonly<Record<string, string>> {
  const folder = `docker/${name}`
  const texts = readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'utf8')] as const)
  const missing = edits.filter(([shipped]) => !texts.some(([, text]) => text.includes(shipped)))
  if (missing.length > 0) throw new Error(`${folder} does not contain ${missing.map(([shipped]) => `"${shipped}"`).join(', ')}`)
  return Object.fromEntries(
    texts.map(([file, text]) => {
      const here = edits.reduce((all, [from, to]) => all.replaceAll(from, to), text)
      const left = here.split('\n').find((line) => !/^\s*#/.test(line) && /\b80(?:80|81|90|00)\b/.test(line))
      if (left !== undefined) throw new Error(`${file} keeps a port as shipped: ${left.trim()}`)
      return [file, here]
    }),
  )
}

/** Workers of a master that runs as root could not read the directory. */
const USER = process.getuid?.() === 0 ? 'user root;' : ''

export const nginx: Edge = {
  name: 'nginx',
  check: (directory) => ['-c', `${directory}/nginx.conf`, '-e', 'stderr', ...(USER === '' ? [] : ['-g', USER]), '-t'],
  argv: (directory) => ['-c', `${directory}/nginx.conf`, '-e', 'stderr', '-g', `${USER} daemon off;`],
  edits: ({ directory, port, rpcPort, upstream: { crosswalk, v1 } }) => [
    ['/tmp/nginx', `${directory}/nginx`],
    ['listen 8000;', `listen 127.0.0.1:${port};`],
    ['listen 8001 http2;', `listen 127.0.0.1:${rpcPort} http2;`],
    ['access_log /dev/stdout', `access_log ${directory}/access.log`],
    ['crosswalk-1:8080', crosswalk[0]],
    ['crosswalk-2:8080', crosswalk[1]],
    ['v1:8090', v1],
  ],
  hasRpcPort: true,
  share: (percent) => `${percent}% crosswalk;`,
  ...{ callers: 300, half: [110, 190], most: [205, 275] },
  ...{ keepsCallers: true, asksHealth: false, replacesAddresses: true, end: 'SIGTERM' },
}

/** What the other three have in common. */
const OTHERS = { callers: 200, half: [65, 135], most: [130, 190], asksHealth: true, replacesAddresses: false, end: 'SIGKILL' } as const

const haproxy: Edge = {
  ...OTHERS,
  name: 'haproxy',
  check: (directory) => ['-c', '-f', `${directory}/haproxy.cfg`],
  argv: (directory) => ['-db', '-f', `${directory}/haproxy.cfg`],
  edits: ({ directory, port, upstream: { crosswalk, adminPort, v1 } }) => [
    ['/etc/haproxy/', `${directory}/`],
    ['bind :8000\n', `bind 127.0.0.1:${port}\n`],
    [' crosswalk-1:8080', ` ${crosswalk[0]}`],
    [' crosswalk-2:8080', ` ${crosswalk[1]}`],
    [' port 8081', ` port ${adminPort}`],
    [' v1:8090', ` ${v1}`],
  ],
  share: (percent) => `-m int lt ${percent} }`,
  keepsCallers: true,
}

/** An address as Envoy writes it. */
const ofEnvoy = (address: string) => `address: ${address.replace(':', ', port_value: ')}`

const envoy: Edge = {
  ...OTHERS,
  name: 'envoy',
  check: (directory) => ['--mode', 'validate', '-c', `${directory}/envoy.yaml`],
  argv: (directory) => ['-c', `${directory}/envoy.yaml`, '--concurrency', '1', '--use-dynamic-base-id', '-l', 'error'],
  edits: ({ port, upstream: { crosswalk, adminPort, v1 } }) => [
    ['address: 127.0.0.1, port_value: 9901', 'address: 127.0.0.1, port_value: 0'],
    ['address: 0.0.0.0, port_value: 8000', `address: 127.0.0.1, port_value: ${port}`],
    ['address: crosswalk-1, port_value: 8080', ofEnvoy(crosswalk[0])],
    ['address: crosswalk-2, port_value: 8080', ofEnvoy(crosswalk[1])],
    ['port_value: 8081', `port_value: ${adminPort}`],
    ['address: v1, port_value: 8090', ofEnvoy(v1)],
  ],
  share: (percent) => `- { name: crosswalk, weight: ${percent} }\n                                - { name: v1, weight: ${100 - percent} }`,
  keepsCallers: true,
}

const traefik: Edge = {
  ...OTHERS,
  name: 'traefik',
  argv: (directory) => [`--configFile=${directory}/traefik.yaml`],
  edits: ({ directory, port, upstream: { crosswalk, adminPort, v1 } }) => [
    ['/etc/traefik/routing.yaml', `${directory}/routing.yaml`],
    ['":8000"', `"127.0.0.1:${port}"`],
    ['//crosswalk-1:8080', `//${crosswalk[0]}`],
    ['//crosswalk-2:8080', `//${crosswalk[1]}`],
    ['port: 8081', `port: ${adminPort}`],
    ['//v1:8090', `//${v1}`],
  ],
  share: (percent) => `- { name: crosswalk, weight: ${percent} }\n          - { name: v1, weight: ${100 - percent} }`,
  keepsCallers: false,
}

export const EDGES: readonly Edge[] = [nginx, haproxy, envoy, traefik]
