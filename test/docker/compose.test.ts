import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { envOf, SETTING_KEYS } from '../../src/app/config/settings.ts'
import { createTrust } from '../../src/serve/http/forwarded.ts'
import { compose, configOf } from './read.ts'

const TEXT = readFileSync('docker/compose.yaml', 'utf8')
const { services, networks } = compose()
const proxies = ['crosswalk-1', 'crosswalk-2']

/** `70s` → 70,000; nginx and compose write times alike. */
const milliseconds = (text: string) => Number(/^(\d+)s$/.exec(text)?.[1]) * 1000

describe('compose.yaml', () => {
  it('has the sandbox, two proxies that are alike, nginx, and a store and monitoring that only profiles start', () => {
    const usual = ['sandbox', ...proxies, 'nginx'].map((name) => [name, undefined])
    const others = [['store', ['fleet']], ...['prometheus', 'grafana'].map((name) => [name, ['monitoring']])]
    expect(Object.entries(services).map(([name, { profiles }]) => [name, profiles])).toEqual([...usual, ...others])
    expect(services['crosswalk-1']).toEqual(services['crosswalk-2'])
  })

  it('gives the proxies settings that there are', () => {
    const env = services['crosswalk-1']?.environment ?? {}
    expect(Object.keys(env).filter((name) => !SETTING_KEYS.map(envOf).includes(name))).toEqual([])
    expect(configOf(env)).toMatchObject({ 'upstream.v1': 'http://v1:8090', 'upstream.v2': 'http://v2:8090' })
  })

  it('gives the proxies the store that its first lines name, and none without them', () => {
    expect(services['crosswalk-1']?.environment).toMatchObject({ CROSSWALK_STORE_URL: null })
    const [, named = ''] = /^# CROSSWALK_STORE_URL=(\S+) docker compose .* --profile fleet /m.exec(TEXT) ?? []
    expect(configOf({ CROSSWALK_STORE_URL: named })['store.url']).toBe('redis://store:6379')
    for (const name of proxies) expect(Object.keys(services[name]?.networks ?? {})).toContain('stores')
    expect([Object.keys(services['store']?.networks ?? {}), networks['stores']]).toEqual([['stores'], { internal: true }])
  })

  it('keeps what the store knows on a volume, and all of it', () => {
    const command = ((services['store']?.['command'] ?? []) as string[]).join(' ')
    expect(command).toContain('--appendonly yes')
    expect(command).toContain('--maxmemory-policy noeviction')
    expect(services['store']?.['volumes']).toEqual(['store:/data'])
  })

  it('waits for a proxy that stops as long as the proxy may take', () => {
    for (const name of proxies) {
      const config = configOf(services[name]?.environment ?? {})
      const longest = config['limits.drainMs'] + config['limits.lingerMs'] + config['limits.shutdownMs']
      expect(milliseconds(services[name]?.stop_grace_period ?? '')).toBeGreaterThan(longest)
      expect(config['limits.shutdownMs']).toBeGreaterThanOrEqual(config['limits.deadlineMs'])
    }
  })

  it('pins images of others by an exact version, and takes every privilege from all', () => {
    for (const { image, read_only, cap_drop, security_opt, restart } of Object.values(services)) {
      expect(image).toMatch(/^(crosswalk:local|[a-z/]+:v?\d+\.\d+\.\d+(-[a-z]+)?)$/)
      expect({ read_only, cap_drop, security_opt, restart }).toEqual({
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
        restart: 'unless-stopped',
      })
    }
  })

  it('shows nothing beyond this machine', () => {
    expect(Object.values(services).flatMap(({ ports }) => ports ?? [])).toEqual([
      '127.0.0.1:8000:8000',
      '127.0.0.1:8001:8001',
      '127.0.0.1:3000:3000',
    ])
  })

  it('trusts nginx alone, whose address nobody else can be given', () => {
    const address = services.nginx?.networks?.balancer?.ipv4_address ?? ''
    const [{ subnet = '', ip_range: range = '', gateway = '' } = {}] = networks.balancer?.ipam?.config ?? []
    for (const name of proxies) expect(configOf(services[name]?.environment ?? {})['forwarded.trusted']).toBe(address)
    expect([subnet, range].map((network) => createTrust([network])(address))).toEqual([true, false])
    expect(address).not.toBe(gateway)
  })

  it('lets nginx and the proxies meet on one network only, and the sandbox reach nobody else', () => {
    const networksOf = (service: string) => Object.keys(services[service]?.networks ?? {})
    const shared = (a: string, b: string) => networksOf(a).filter((name) => networksOf(b).includes(name))
    for (const name of proxies) {
      expect([shared('nginx', name), shared(name, 'sandbox')]).toEqual([['balancer'], ['upstreams']])
    }
    expect(shared('nginx', 'sandbox')).toEqual(['legacy'])
    expect(networks).toMatchObject({ upstreams: { internal: true }, legacy: { internal: true } })
  })

  it('mounts and builds from what is there', () => {
    const mounted = Object.values(services).flatMap(({ volumes }) => (volumes ?? []) as string[])
    const folders = mounted.filter((volume) => volume.startsWith('.')).map((volume) => join('docker', volume.split(':')[0] ?? ''))
    expect(folders.filter((path) => !existsSync(path))).toEqual([])
    expect(services['sandbox']?.['build']).toEqual({ context: '..', dockerfile: 'docker/Dockerfile' })
  })
})

describe('nginx/', () => {
  const conf = readFileSync('docker/nginx/nginx.conf', 'utf8')
  const upstreams = readFileSync('docker/nginx/upstreams.conf', 'utf8')
  const config = configOf(services['crosswalk-1']?.environment ?? {})
  const one = (text: string, directive: RegExp) => milliseconds(directive.exec(text)?.[1] ?? '')

  it.each(['crosswalk', 'crosswalk_grpc'])('closes idle connections of %s before a proxy that lingers does, and tries it later', (name) => {
    const idle = one(upstreams, new RegExp(`upstream ${name} \\{[^}]*keepalive_timeout (\\w+);`))
    const out = one(upstreams, new RegExp(`upstream ${name} \\{[^}]*fail_timeout=(\\w+);`))
    expect([idle, config['limits.lingerMs'], out]).toEqual([idle, config['limits.lingerMs'], out].toSorted((a, b) => a - b))
    expect(new Set([idle, config['limits.lingerMs'], out]).size).toBe(3)
  })

  it('is more patient than the proxy', () => {
    expect(one(conf, /proxy_read_timeout (\w+);/)).toBeGreaterThan(config['limits.deadlineMs'])
    expect(one(conf, /grpc_read_timeout (\w+);/)).toBeGreaterThan(config['limits.deadlineMs'])
  })

  it('names the hosts that compose starts', () => {
    const hosts = [...upstreams.matchAll(/server ([\w-]+):(\d+)/g)].map(([, host, port]) => `${host}:${port}`)
    const servers = ['crosswalk-1:8080', 'crosswalk-2:8080', 'v1:8090']
    expect(hosts).toEqual([...servers, ...servers])
    expect(services['sandbox']).toMatchObject({ networks: { upstreams: { aliases: ['v1', 'v2'] }, legacy: { aliases: ['v1'] } } })
  })
})
