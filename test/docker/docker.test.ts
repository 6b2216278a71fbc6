import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { validate } from 'dockerfile-utils'
import { beforeAll, describe, expect, it } from 'vitest'
import { listOf } from '../../src/app/config/kinds.ts'
import { envOf, SETTING_KEYS } from '../../src/app/config/settings.ts'
import { createTrust } from '../../src/serve/http/forwarded.ts'
import { memoryOf } from '../docs/generated.ts'
import { bearer, type Stage, startStage } from '../stage/stage.ts'
import { answering, type Handler } from '../stage/upstream.ts'
import { BASE, checkInPod, compose, configOf, type Manifest, manifests } from './read.ts'

describe('compose', () => {
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

    it.each(['crosswalk', 'crosswalk_grpc'])(
      'closes idle connections of %s before a proxy that lingers does, and tries it later',
      (name) => {
        const idle = one(upstreams, new RegExp(`upstream ${name} \\{[^}]*keepalive_timeout (\\w+);`))
        const out = one(upstreams, new RegExp(`upstream ${name} \\{[^}]*fail_timeout=(\\w+);`))
        expect([idle, config['limits.lingerMs'], out]).toEqual([idle, config['limits.lingerMs'], out].toSorted((a, b) => a - b))
        expect(new Set([idle, config['limits.lingerMs'], out]).size).toBe(3)
      },
    )

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
})

describe('dockerfile', () => {
  const text = readFileSync('docker/Dockerfile', 'utf8')
  const lines = text
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => /^[A-Z]+ /.test(line))
  const final = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM ')))

  /** The one place that names an image. */
  const BASE = ['$', '{NODE_IMAGE}'].join('')

  describe('the Dockerfile', () => {
    it('is well-formed', () => {
      expect(validate(text).map(({ message, range }) => `${range.start.line + 1}: ${message}`)).toEqual([])
    })

    it('names its base by an exact version of Node 24, once', () => {
      expect(lines.filter((line) => /^(ARG \w+_IMAGE|FROM)/.test(line))).toEqual([
        expect.stringMatching(/^ARG NODE_IMAGE=node:24\.\d+\.\d+-bookworm-slim$/),
        `ARG RUNTIME_IMAGE=${BASE}`,
        `FROM --platform=$BUILDPLATFORM ${BASE} AS base`,
        'FROM base AS build',
        'FROM base AS modules',
        `FROM ${BASE.replace('NODE', 'RUNTIME')}`,
      ])
    })

    it('tells in labels of the Open Container Initiative what the image is', () => {
      const { description, license } = JSON.parse(readFileSync('package.json', 'utf8'))
      const label = final.find((line) => line.startsWith('LABEL')) ?? ''
      const told = Object.fromEntries(
        [...label.matchAll(/org\.opencontainers\.image\.(\w+)="([^"]*)"/g)].map(([, key, value]) => [key, value]),
      )
      const [version, revision] = ['VERSION', 'REVISION'].map((name) => BASE.replace('NODE_IMAGE', name))
      expect(told).toEqual({ title: 'Crosswalk', description, licenses: license, version, revision })
    })

    it('takes each argument that the bake file gives, from the folder that it names', () => {
      const bake = readFileSync('docker/docker-bake.hcl', 'utf8')
      const given = [...bake.matchAll(/args += \{ (.*) \}/g)].flatMap(([, args = '']) => args.match(/\w+(?= =)/g) ?? [])
      expect(given).toEqual(['VERSION', 'REVISION', 'RUNTIME_IMAGE'])
      expect(given.filter((name) => !lines.some((line) => line.startsWith(`ARG ${name}=`)))).toEqual([])
      expect(existsSync(/dockerfile += "(.*)"/.exec(bake)?.[1] ?? '')).toBe(true)
    })

    it('installs what the lock file says, without scripts, and into the image only what runs', () => {
      const installs = lines.filter((line) => /npm (ci|i|install|add)\b/.test(line))
      expect(installs).toEqual(['RUN npm ci --ignore-scripts', 'RUN npm ci --ignore-scripts --omit=dev'])
      expect(final).toContain('COPY --from=modules /app/node_modules ./node_modules')
    })

    it('starts Node without flags', () => {
      expect(lines.filter((line) => line.startsWith('ENTRYPOINT'))).toEqual(['ENTRYPOINT ["node", "dist/bundle/cli.js"]'])
    })

    it('runs as a number that is not root, in production', () => {
      expect(final.filter((line) => line.startsWith('USER'))).toEqual(['USER 1000:1000'])
      expect(final.find((line) => line.startsWith('ENV'))).toContain('NODE_ENV=production')
      expect(final.filter((line) => /^(RUN|ADD)/.test(line))).toEqual([])
    })

    it('copies what is there, and the builder is given no more', () => {
      const sources = lines.filter((line) => /^COPY (?!--from)/.test(line)).flatMap((line) => line.split(' ').slice(1, -1))
      expect(sources.filter((source) => !existsSync(source))).toEqual([])
      const ignore = readFileSync('.dockerignore', 'utf8')
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('#'))
      expect(ignore.shift()).toBe('*')
      expect(ignore.map((line) => line.slice(1)).sort()).toEqual(sources.map((source) => source.replace('./', '')).sort())
    })
  })

  describe('the health check', () => {
    let proxy: Stage<null, Handler>

    beforeAll(async () => {
      proxy = await startStage({ v1: null, v2: answering({}), proxy: { 'admin.token': 'that-no-check-has-at-hand' } })
    })

    /** Exit code of the very command in the file. */
    const check = (port: string) =>
      new Promise<number>((resolve) => {
        const [, command = '[]'] = /^HEALTHCHECK .* CMD (\[.*\])$/m.exec(lines.join('\n')) ?? []
        const [program = '', ...argv] = JSON.parse(command)
        execFile(program, argv, { env: { PATH: process.env.PATH, CROSSWALK_ADMIN_PORT: port } }, (error) =>
          resolve(Number(error?.code ?? 0)),
        )
      })

    it('needs nothing but node, and tells a proxy that lives from one that does not', async () => {
      const { port } = new URL(proxy.adminUrl)
      expect(await check(port)).toBe(0)
      await proxy.close()
      expect(await check(port)).toBe(1)
    })
  })
})

describe('the notes of the chart', () => {
  it('show a request that answers whoever has the token that reads', async () => {
    const notes = readFileSync('docker/helm/crosswalk/templates/NOTES.txt', 'utf8')
    const [, path = ''] = /^ {2}curl .* http:\/\/127\.0\.0\.1:8081(\S+)$/m.exec(notes) ?? []
    const proxy = await startStage({ v1: null, v2: answering({}), proxy: { 'admin.readToken': 'the-token-that-reads' } })
    const answer = await fetch(proxy.adminUrl + path, { headers: bearer('the-token-that-reads') })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8'])
  })
})

describe('the manifests', () => {
  const all = manifests()

  function manifest(kind: string): Manifest {
    const found = all[kind]
    if (!found) throw new Error(`${BASE} has no ${kind}`)
    return found
  }

  const KINDS = ['ConfigMap', 'Deployment', 'HorizontalPodAutoscaler', 'NetworkPolicy', 'PodDisruptionBudget', 'Service']

  const pod = manifest('Deployment').spec.template.spec
  const [container] = pod.containers
  const config = configOf({}, manifest('ConfigMap').data['crosswalk.json'])

  it('are all there', () => expect(Object.keys(all).sort()).toEqual(KINDS))

  it('select the pods of the deployment', () => {
    const { labels } = manifest('Deployment').spec.template.metadata
    const selectors = [
      manifest('Deployment').spec.selector.matchLabels,
      manifest('Service').spec.selector,
      manifest('PodDisruptionBudget').spec.selector.matchLabels,
      manifest('NetworkPolicy').spec.podSelector.matchLabels,
      pod.topologySpreadConstraints[0].labelSelector.matchLabels,
    ]
    expect(selectors).toEqual(selectors.map(() => labels))
  })

  it('name ports that the container has and the proxy listens on', () => {
    const ports = Object.fromEntries(
      container.ports.map((port: { name: string; containerPort: number }) => [port.name, port.containerPort]),
    )
    expect(ports).toEqual({ http: config['listen.port'], admin: config['admin.port'] })
    const probes = ['startupProbe', 'readinessProbe', 'livenessProbe'].map((name) => container[name].httpGet.port)
    expect([...probes, ...manifest('Service').spec.ports.map((port: { targetPort: string }) => port.targetPort)]).toEqual([
      'admin',
      'admin',
      'admin',
      'http',
    ])
  })

  it('probe paths that answer', async () => {
    const proxy = await startStage({ v1: null, v2: answering({}), proxy: { 'admin.token': 'that-no-probe-has-at-hand' } })
    for (const name of ['startupProbe', 'readinessProbe', 'livenessProbe']) {
      expect((await fetch(proxy.adminUrl + container[name].httpGet.path)).status).toBe(200)
    }
  })

  it('give a pod that stops the time it may take', () => {
    // By Kubernetes itself: a distroless image has no program that sleeps.
    const { seconds } = container.lifecycle.preStop.sleep
    const longest = seconds * 1000 + config['limits.drainMs'] + config['limits.lingerMs'] + config['limits.shutdownMs']
    expect(pod.terminationGracePeriodSeconds * 1000).toBeGreaterThan(longest)
    expect(config['limits.shutdownMs']).toBeGreaterThanOrEqual(config['limits.deadlineMs'])
    // The pod is out of the service before it stops accepting.
    const { periodSeconds, failureThreshold } = container.readinessProbe
    expect(config['limits.drainMs']).toBeGreaterThanOrEqual(periodSeconds * failureThreshold * 1000)
  })

  it('give a pod that starts the time to read full record files back, on a quarter of a core', () => {
    const { periodSeconds, failureThreshold } = container.startupProbe
    const mebibytes = (config['records.bytes'] / 2 ** 20) * (config['records.files'] + 1)
    expect(periodSeconds * failureThreshold).toBeGreaterThan(mebibytes / 2)
  })

  it('mount the configuration where the proxy looks for it, as a directory', () => {
    const [mount, cache] = container.volumeMounts
    expect(container.env).toContainEqual({ name: 'CROSSWALK_CONFIG', value: `${mount.mountPath}/crosswalk.json` })
    expect(mount).not.toHaveProperty('subPath')
    expect(pod.volumes).toEqual([
      { name: mount.name, configMap: { name: manifest('ConfigMap').metadata.name } },
      { name: cache.name, emptyDir: { sizeLimit: '16Mi' } },
    ])
  })

  it('let the proxy write the cache of the store, which the rest of its files does not allow', () => {
    const [, cache] = container.volumeMounts
    expect(dirname(config['store.cache'] ?? '')).toBe(cache.mountPath)
    expect(cache.readOnly).toBeUndefined()
    expect(pod.securityContext).toMatchObject({ runAsUser: 1000, fsGroup: 1000 })
  })

  it('give the admin port both tokens and the proxy its store, from Secrets that are not among them', () => {
    const secrets = container.env.filter((one: { valueFrom?: object }) => one.valueFrom)
    const kept = secrets.map(({ name, valueFrom }: { name: string; valueFrom: { secretKeyRef: object } }) => [name, valueFrom.secretKeyRef])
    const key = expect.any(String)
    expect(kept).toEqual([
      [envOf('admin.token'), { name: 'crosswalk-admin', key }],
      [envOf('admin.readToken'), { name: 'crosswalk-admin', key }],
      [envOf('store.url'), { name: 'crosswalk-store', key }],
    ])
    expect([config['admin.token'], config['store.url']]).toEqual([undefined, undefined])
  })

  it('start more pods before the core of a process is full, and leave their number to the autoscaler', () => {
    const { scaleTargetRef, metrics, minReplicas } = manifest('HorizontalPodAutoscaler').spec
    const { apiVersion, kind, metadata } = manifest('Deployment')
    expect(scaleTargetRef).toEqual({ apiVersion, kind, name: metadata.name })
    expect(manifest('Deployment').spec).not.toHaveProperty('replicas')
    expect(minReplicas).toBeGreaterThan(manifest('PodDisruptionBudget').spec.minAvailable)
    const [{ containerResource: used }] = metrics
    expect(used).toMatchObject({ container: container.name, name: 'cpu' })
    expect(Number.parseInt(used.target.averageValue, 10)).toBeLessThan(1000)
  })

  it('send tokens of clients to v1 and v2 by https, and believe no more than a few addresses', () => {
    for (const key of ['upstream.v1', 'upstream.v2'] as const) expect(new URL(config[key] ?? '').protocol, key).toBe('https:')
    for (const network of listOf(config['forwarded.trusted'])) expect(Number(network.split('/')[1] ?? 32)).toBeGreaterThanOrEqual(24)
  })

  it('let out to names, v2, v1 and the store, and to nothing else', () => {
    const { policyTypes, egress } = manifest('NetworkPolicy').spec
    expect(policyTypes).toEqual(['Ingress', 'Egress'])
    const [dns, v2, v1, store, ...rest] = egress
    expect(rest).toEqual([])
    expect(dns.ports).toEqual(['UDP', 'TCP'].map((protocol) => ({ protocol, port: 53 })))
    expect(v2.ports).toEqual([{ port: 443 }])
    const [{ ipBlock }] = v2.to
    const isLetOut = (address: string) => createTrust([ipBlock.cidr])(address) && !createTrust(ipBlock.except)(address)
    expect(
      ['1.1.1.1', '10.0.0.1', '172.20.1.1', '192.168.1.1', '127.0.0.1', '169.254.169.254', '100.100.100.200'].filter(isLetOut),
    ).toEqual(['1.1.1.1'])
    const [, name, namespace] = /^https:\/\/([\w-]+)\.([\w-]+)\.svc$/.exec(config['upstream.v1'] ?? '') ?? []
    expect(v1.to).toEqual([
      {
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
        podSelector: { matchLabels: { 'app.kubernetes.io/name': name } },
      },
    ])
    expect(v1.ports).toHaveLength(1)
    const [, storeUrl = ''] = /--from-literal=url=(\S+)/.exec(readFileSync(`${BASE}/deployment.yaml`, 'utf8')) ?? []
    const { protocol, hostname, port } = new URL(storeUrl)
    const [storeName, storeNamespace] = hostname.split('.')
    expect(store.to[0].podSelector.matchLabels).toEqual({ 'app.kubernetes.io/name': storeName })
    expect(store.to[0].namespaceSelector.matchLabels).toEqual({ 'kubernetes.io/metadata.name': storeNamespace })
    expect([protocol, store.ports]).toEqual(['rediss:', [{ port: Number(port) }]])
  })

  it('let the pod do nothing that it need not', () => {
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    })
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    expect(container.resources).toMatchObject({ requests: { cpu: expect.any(String), memory: expect.any(String) } })
  })

  it.each([undefined, true])('start beside Services of any name, if enableServiceLinks is %s', async (links) => {
    expect(await checkInPod(Object.values(all), links)).toMatchObject({ code: 0, err: '' })
  })

  it('give the pod the memory that strangers can make it hold', () => {
    const [, mebibytes] = /^(\d+)Mi$/.exec(container.resources.limits.memory) ?? []
    const most = Math.round(memoryOf(config).all / 2 ** 20)
    expect(most).toBeLessThan(0.9 * Number(mebibytes))
    expect(readFileSync(`${BASE}/configmap.yaml`, 'utf8')).toContain(`${most} MiB of the pod's ${mebibytes}`)
  })
})
