import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { configWith } from '../../../src/app/config/config.ts'
import { checkInPod, compose, configOf, type Manifest, manifestsIn } from '../../docker/read.ts'
import { commandsOf } from '../../docs/pages.ts'
import { until } from '../../stage/clocks.ts'
import { hasProgram, startProgram, temporaryFolder } from '../../stage/programs.ts'
import { startProxy } from '../../stage/stage.ts'
import { freePort } from '../../stage/upstream.ts'

/** Returns what a program prints. Throws with its complaints if it fails. */
function printed(program: string, ...argv: readonly string[]): string {
  return execFileSync(program, argv, { encoding: 'utf8', stdio: 'pipe', timeout: 60_000 })
}

/** Where each kind has its schema. */
const MODULES: Readonly<Record<string, string>> = {
  ConfigMap: 'kubernetes-models/v1/ConfigMap',
  Deployment: 'kubernetes-models/apps/v1/Deployment',
  HTTPRoute: '@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1/HTTPRoute',
  HorizontalPodAutoscaler: 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler',
  Ingress: 'kubernetes-models/networking.k8s.io/v1/Ingress',
  NetworkPolicy: 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy',
  PersistentVolumeClaim: 'kubernetes-models/v1/PersistentVolumeClaim',
  PodDisruptionBudget: 'kubernetes-models/policy/v1/PodDisruptionBudget',
  PrometheusRule: '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule',
  Service: 'kubernetes-models/v1/Service',
  ServiceAccount: 'kubernetes-models/v1/ServiceAccount',
  ServiceMonitor: '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor',
}

/** The packages of the schemas name Node 22, so `npm install` does not install them here: `.ci/run` does, into a folder of its own. */
const FOLDER = process.env.CROSSWALK_SCHEMAS

/** Whether the schemas are there; says why tests are skipped if they are not. */
function hasSchemas(): boolean {
  if (FOLDER === undefined) console.warn('SKIPPED: CROSSWALK_SCHEMAS names no folder with kubernetes-models')
  return FOLDER !== undefined
}

// biome-ignore lint/suspicious/noExplicitAny: one constructor a kind, each with data of its own type
type Model = { readonly apiVersion: string; readonly prototype: { validate(): void } } & (new (data: any) => object)

const MODELS: Readonly<Record<string, Model>> = FOLDER === undefined ? {} : await modelsIn(FOLDER)

async function modelsIn(folder: string): Promise<Readonly<Record<string, Model>>> {
  const load = async ([kind, path]: readonly [string, string]) =>
    [kind, (await import(pathToFileURL(join(folder, 'node_modules', `${path}.js`)).href))[kind]] as const
  return Object.fromEntries(await Promise.all(Object.entries(MODULES).map(load)))
}

/**
 * Returns what is wrong with a manifest by the schema of its kind, also members that the schema does not have. Kubernetes refuses the
 * latter in a strict request and drops them in any other; the schemas alone accept them.
 */
function faultsOf(manifest: Manifest): readonly string[] {
  const model = MODELS[manifest.kind]
  if (model?.apiVersion !== manifest.apiVersion) return [`${manifest.apiVersion} ${manifest.kind} is not a kind that is known here`]
  const read = new Set<string>()
  try {
    model.prototype.validate.call(watched(manifest, '', read))
  } catch (error) {
    return [String(error)]
  }
  return unread(manifest, '', read)
}

/** Notes the path of every member that is read. */
function watched<T extends object>(value: T, path: string, read: Set<string>): T {
  return new Proxy(value, {
    get(target, key, receiver) {
      const member = Reflect.get(target, key, receiver)
      if (typeof key === 'symbol') return member
      read.add(`${path}/${key}`)
      return typeof member === 'object' && member !== null ? watched(member, `${path}/${key}`, read) : member
    },
  })
}

function unread(value: unknown, path: string, read: ReadonlySet<string>): readonly string[] {
  if (path !== '' && !read.has(path)) return [`${path} is not in the schema`]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, member]) => unread(member, `${path}/${key}`, read))
}

describe('helm', () => {
  const CHART = 'docker/helm/crosswalk'

  const VALUES = ['minimal', 'production', 'workers', 'open', 'shadow', 'tls', 'mtls', 'people', 'behind-proxy', 'rollout']

  const valuesOf = (name: string) => ['--values', `${CHART}/ci/${name}-values.yaml`]

  /** What `helm install crosswalk` would send. */
  const rendered = (name: string, ...flags: readonly string[]) =>
    manifestsIn(printed('helm', 'template', 'crosswalk', CHART, ...valuesOf(name), ...flags))

  const find = (all: readonly Manifest[], kind: string) => all.find((manifest) => manifest.kind === kind)

  const pod = (all: readonly Manifest[]) => find(all, 'Deployment')?.spec.template.spec

  /** What Helm adds to each manifest to know its own. */
  const OF_HELM = /^(app\.kubernetes\.io\/(instance|managed-by|version)|helm\.sh\/.*)$/

  /** A manifest without the marks of Helm, with the named members of its lists in one order. */
  function plain(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(plain).toSorted((a, b) => order(a).localeCompare(order(b)))
    if (typeof value !== 'object' || value === null) return value
    const kept = Object.entries(value).filter(
      ([key, member]) => !OF_HELM.test(key) && !(key === 'annotations' && 'helm.sh/resource-policy' in member),
    )
    return Object.fromEntries(kept.map(([key, member]) => [key, plain(member)]))
  }

  function order(value: unknown): string {
    return typeof value === 'object' && value !== null && 'name' in value ? String(value.name) : ''
  }

  describe.runIf(hasProgram('helm') && hasProgram('kubectl') && hasSchemas())('the chart', () => {
    it.each(VALUES)('passes helm lint with the values %s', (name) => {
      expect(printed('helm', 'lint', '--strict', CHART, ...valuesOf(name))).toContain('0 chart(s) failed')
    })

    it.each(VALUES)('renders manifests that fit the schemas, with the values %s', (name) => {
      const all = rendered(name)
      expect(all.flatMap(faultsOf)).toEqual([])
      expect(new Set(all.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).size).toBe(all.length)
    })

    it.each(VALUES)('writes a configuration that the proxy accepts, and gives the pod the time to stop, with the values %s', (name) => {
      const all = rendered(name)
      const config = configOf({}, find(all, 'ConfigMap')?.data['crosswalk.json'])
      const longest = 5000 + config['limits.drainMs'] + config['limits.lingerMs'] + config['limits.shutdownMs']
      expect(pod(all).terminationGracePeriodSeconds * 1000).toBeGreaterThan(longest)
    })

    it.each(VALUES)('renders a pod that starts beside Services of any name, with the values %s', async (name) => {
      for (const links of [undefined, true]) expect(await checkInPod(rendered(name), links)).toMatchObject({ code: 0, err: '' })
      expect(pod(rendered(name)).enableServiceLinks).toBe(false)
    })

    it('renders what the kustomization builds, with the values production', () => {
      const all = rendered('production')
      const monitored = manifestsIn(printed('kubectl', 'kustomize', 'docker/kubernetes/example')).filter(({ kind }) => kind !== 'HTTPRoute')
      expect(all.length).toBe(monitored.length)
      for (const { kind, metadata, ...manifest } of monitored) {
        const twin = all.find((one) => one.kind === kind && one.metadata.name === metadata.name) ?? all[0]
        const { namespace: _, ...expected } = metadata
        const config = twin?.data?.['crosswalk.json']
        // The configuration is the same value, written in another way.
        if (config) expect(configOf({}, config)).toEqual(configOf({}, manifest['data']['crosswalk.json']))
        const wanted = { ...manifest, kind, metadata: expected, ...(config ? { data: twin.data } : {}) }
        expect(plain(withPullPolicy(wanted as Manifest)), `${kind} ${metadata.name}`).toEqual(plain(twin))
      }
    })

    it('refuses values that no key has, and an upstream that is missing', () => {
      expect(() => rendered('minimal', '--set', 'replica=2')).toThrow(/replica/)
      expect(() => printed('helm', 'template', 'crosswalk', CHART)).toThrow(/config\.upstream\.v2 is the address/)
    })

    it('passes helm lint without values', () => {
      expect(printed('helm', 'lint', CHART)).toContain('0 chart(s) failed')
    })

    it.each([
      ['config.limits.deadlinMs=3', /deadlinMs/],
      ['config.limits.deadlineMs=soon', /deadlineMs/],
      ['config.modes.default=v3', /default/],
      ['config.upstrea.v2=x', /upstrea/],
    ])('refuses %s, as the proxy would', (setting, named) => {
      expect(() => rendered('minimal', '--set', setting)).toThrow(named)
    })

    it('serves TLS with the certificate of a Secret', () => {
      const all = rendered('minimal', '--set', 'tls.existingSecret=api-tls')
      expect(configOf({}, find(all, 'ConfigMap')?.data['crosswalk.json'])).toMatchObject({
        'tls.key': '/etc/crosswalk-tls/tls.key',
        'tls.cert': '/etc/crosswalk-tls/tls.crt',
      })
      expect(pod(all).volumes).toContainEqual({ name: 'tls', secret: { secretName: 'api-tls' } })
      expect(pod(all).containers[0].volumeMounts).toContainEqual({ name: 'tls', mountPath: '/etc/crosswalk-tls', readOnly: true })
    })

    it('takes what else a cluster asks for', () => {
      const all = rendered('open')
      expect(new Set(all.map(({ metadata }) => metadata.name))).toEqual(new Set(['api-v1']))
      expect(find(all, 'Deployment')?.metadata['annotations']).toEqual({ 'example.com/owner': 'api' })
      expect(find(all, 'Deployment')?.spec.template.metadata).toMatchObject({
        labels: { 'example.com/team': 'api', 'app.kubernetes.io/name': 'crosswalk' },
        annotations: { 'example.com/scrape': 'false' },
      })
      expect(pod(all)).toMatchObject({ serviceAccountName: 'api-v1', automountServiceAccountToken: false })
      expect(pod(all).containers[0]).toMatchObject({ envFrom: [{ secretRef: { name: 'crosswalk-more' } }] })
      expect(pod(all).volumes).toContainEqual({ name: 'authorities', configMap: { name: 'authorities' } })
      expect(find(all, 'Service')).toMatchObject({ spec: { type: 'LoadBalancer', ports: [{ port: 8443 }] } })
      const rules = find(all, 'Ingress')?.spec.rules
      expect(rules.map((rule: { host: string; http: { paths: readonly object[] } }) => [rule.host, rule.http.paths.length])).toEqual([
        ['api.example.com', 2],
        ['old.example.com', 1],
      ])
    })

    it.each(['docs/start/shadow.md', 'docs/how-to/kubernetes.md'])(
      'renders what the lines of %s install, with the Secret that they make',
      (page) => {
        const commands = commandsOf(page)
        const installs = commands.filter((line) => line.startsWith('helm '))
        expect(installs.length).toBeGreaterThan(0)
        const [secret = ''] = commands.filter((line) => line.startsWith('kubectl create secret '))
        const [made] = manifestsIn(printed('sh', '-c', `${secret} --dry-run=client -o yaml`))
        for (const line of installs) {
          const all = manifestsIn(printed('sh', '-c', line.replace(/^helm (install|upgrade) /, 'helm template ')))
          expect(all.flatMap(faultsOf)).toEqual([])
          const asked = [...line.matchAll(/--set config\.([\w.]+)=(\S+)/g)].map(([, key = '', value]) => [key, value])
          const file = JSON.parse(find(all, 'ConfigMap')?.data['crosswalk.json'])
          for (const [key = '', value] of asked) expect(memberAt(file, key), key).toBe(value)
          const named = pod(all).containers[0].env.flatMap(({ valueFrom }: EnvOfPod) => valueFrom?.secretKeyRef ?? [])
          const ofAdmin = named.filter(({ name }: { name: string }) => name === made?.['metadata'].name)
          expect(ofAdmin.map(({ key }: { key: string }) => key).toSorted()).toEqual(Object.keys(made?.['data']).toSorted())
        }
      },
    )

    it('names all after the release, and links alerts to the guide that the values name', () => {
      const all = manifestsIn(
        printed(
          'helm',
          'template',
          'staging',
          CHART,
          ...valuesOf('production'),
          '--set',
          'prometheusRule.runbooks=https://wiki.example.com/guide',
        ),
      )
      expect(all.filter(({ metadata }) => !metadata.name.startsWith('staging-crosswalk'))).toEqual([])
      const [{ rules }] = find(all, 'PrometheusRule')?.spec.groups ?? []
      const links = rules.map(({ annotations }: { annotations: Record<string, string> }) => annotations['runbook_url'])
      expect(
        links.filter((link: string) => !/^https:\/\/wiki\.example\.com\/guide\/how-to\/[a-z0-9-]+\.md#[a-z0-9-]+$/.test(link)),
      ).toEqual([])
    })
  })

  interface EnvOfPod {
    readonly valueFrom?: { readonly secretKeyRef?: { readonly name: string; readonly key: string } }
  }

  /** `upstream.v1` in `{ upstream: { v1: … } }`. */
  function memberAt(file: unknown, key: string): unknown {
    return key.split('.').reduce<unknown>((inner, name) => (inner as Readonly<Record<string, unknown>> | undefined)?.[name], file)
  }

  /** Kubernetes would fill it in alike; the chart says it. */
  function withPullPolicy(manifest: Manifest): Manifest {
    if (manifest.kind !== 'Deployment') return manifest
    const { spec } = structuredClone(manifest)
    for (const container of spec.template.spec.containers) container.imagePullPolicy = 'IfNotPresent'
    return { ...manifest, spec }
  }
})

describe('kustomize', () => {
  const ROOT = 'docker/kubernetes'

  const COMPONENTS = readdirSync(ROOT).filter((name) => !['base', 'example'].includes(name))

  /** What `kubectl apply -k` would send. */
  const built = (folder: string) => manifestsIn(printed('kubectl', 'kustomize', folder))

  /** The base with one component. */
  function withComponent(name: string): readonly Manifest[] {
    const folder = mkdtempSync(join(ROOT, '.component-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    writeFileSync(join(folder, 'kustomization.yaml'), JSON.stringify({ resources: ['../base'], components: [`../${name}`] }))
    return built(folder)
  }

  const names = (all: readonly Manifest[]) => all.map(({ kind, metadata }) => `${kind} ${metadata.name}`)

  const find = (all: readonly Manifest[], kind: string) => all.find((manifest) => manifest.kind === kind)

  describe.runIf(hasProgram('kubectl') && hasSchemas())('kustomize', () => {
    it('builds nothing that is wrong, or has a member too many, without a word', () => {
      const { spec, ...rest } = built(join(ROOT, 'base')).find(({ kind }) => kind === 'Deployment')!
      expect(faultsOf({ ...rest, spec: { ...spec, replicas: 'two' } } as Manifest)).toEqual([expect.stringContaining('/spec/replicas')])
      expect(faultsOf({ ...rest, spec: { ...spec, replica: 2 } } as Manifest)).toEqual(['/spec/replica is not in the schema'])
    })

    it.each(['base', 'example'])('builds %s from manifests that fit the schemas', (name) => {
      const all = built(join(ROOT, name))
      expect(all.flatMap(faultsOf)).toEqual([])
      expect(new Set(names(all)).size).toBe(all.length)
    })

    it.each(COMPONENTS)('adds %s to the base, and what it adds fits the schemas', (name) => {
      const all = withComponent(name)
      expect(all.flatMap(faultsOf)).toEqual([])
      expect(all.map(({ metadata }) => metadata.namespace)).toEqual(all.map(() => undefined))
      expect(all.length).toBeGreaterThan(built(join(ROOT, 'base')).length)
    })

    it.each(['base', 'example', ...COMPONENTS])('builds a pod of %s that starts beside Services of any name', async (name) => {
      const all = COMPONENTS.includes(name) ? withComponent(name) : built(join(ROOT, name))
      for (const links of [undefined, true]) expect(await checkInPod(all, links)).toMatchObject({ code: 0, err: '' })
    })

    it('puts all of the example into its namespace, with the image that it names', () => {
      const all = built(join(ROOT, 'example'))
      const { namespace, images } = parse(readFileSync(join(ROOT, 'example/kustomization.yaml'), 'utf8'))
      expect(new Set(all.map(({ metadata }) => metadata.namespace))).toEqual(new Set([namespace]))
      const [{ newName, newTag }] = images
      expect(find(all, 'Deployment')?.spec.template.spec.containers[0].image).toBe(`${newName}:${newTag}`)
    })

    it('gives each pod a record file of its own on the volume, and leaves the rest of the pod as it was', () => {
      const pod = (all: readonly Manifest[]) => find(all, 'Deployment')?.spec.template.spec
      const [before, after] = [pod(built(join(ROOT, 'base'))), pod(withComponent('records'))]
      const [container] = after.containers
      const { mountPath } = container.volumeMounts.find((mount: { name: string }) => mount.name === 'records')
      const file = container.env.find((one: { name: string }) => one.name === 'CROSSWALK_RECORDS_FILE').value
      expect(file).toBe(`${mountPath}/$(POD_NAME).ndjson`)
      // Kubernetes fills in variables that come earlier in the list alone.
      const at = (name: string) => container.env.findIndex((one: { name: string }) => one.name === name)
      expect(at('POD_NAME')).toBeLessThan(at('CROSSWALK_RECORDS_FILE'))
      expect(container.env).toEqual(expect.arrayContaining(before.containers[0].env))
      expect(container.volumeMounts).toEqual(expect.arrayContaining(before.containers[0].volumeMounts))
      expect(after.volumes).toEqual(expect.arrayContaining(before.volumes))
    })
  })
})

describe('monitoring', () => {
  /** What Prometheus tells of its targets and of its rules. */
  interface Answer {
    readonly activeTargets: readonly { readonly health: string; readonly lastError: string }[]
    readonly groups: readonly { readonly rules: readonly { readonly name: string }[] }[]
  }

  const { services } = compose()
  const read = (path: string) => readFileSync(`docker/monitoring/${path}`, 'utf8')
  const env = services['crosswalk-1']?.environment ?? {}
  const scraping = parse(read('prometheus.yaml'))
  const [job] = scraping.scrape_configs

  describe('monitoring in compose', () => {
    it('asks both proxies by names that they answer to, with the token that reads', () => {
      const names = job.static_configs[0].targets.map((target: string) => target.replace(/:8081$/, ''))
      expect(names.join(',')).toBe(env['CROSSWALK_ADMIN_NAMES'])
      expect(job.authorization).toEqual({ type: 'Bearer', credentials: env['CROSSWALK_ADMIN_READ_TOKEN'] })
    })

    it('mounts the files where Prometheus and Grafana look for each other', () => {
      const [source] = parse(read('datasources/prometheus.yaml')).datasources
      expect(new URL(source.url).hostname in services).toBe(true)
      expect(source.jsonData.timeInterval).toBe(scraping.global.scrape_interval)
      const [provider] = parse(read('dashboards/crosswalk.yaml')).providers
      const volumes = services['grafana']?.['volumes'] as readonly string[]
      expect(volumes).toContain(`./grafana-dashboard.json:${provider.options.path}/crosswalk.json:ro`)
      const rules = services['prometheus']?.['volumes'] as readonly string[]
      expect(rules).toContain(`./alerts.yaml:/etc/prometheus/${scraping.rule_files[0]}:ro`)
    })
  })

  describe.runIf(hasProgram('prometheus'))('Prometheus', () => {
    it('reads the proxies, and loads every alert', async () => {
      const { path: folder, remove } = temporaryFolder('prometheus')
      const tokens = { 'admin.token': env['CROSSWALK_ADMIN_TOKEN'] ?? '', 'admin.readToken': env['CROSSWALK_ADMIN_READ_TOKEN'] ?? '' }
      const proxy = await startProxy({ 'upstream.v2': 'http://127.0.0.1:1', ...tokens })
      const here = read('prometheus.yaml').replace(/"crosswalk-1:8081", "crosswalk-2:8081"/, `"${new URL(proxy.adminUrl).host}"`)
      writeFileSync(join(folder, 'prometheus.yml'), here.replace('scrape_interval: 5s', 'scrape_interval: 1s'))
      writeFileSync(join(folder, 'alerts.yaml'), readFileSync('docker/alerts.yaml', 'utf8'))
      const port = await freePort()
      const argv = [
        `--config.file=${folder}/prometheus.yml`,
        `--storage.tsdb.path=${folder}/data`,
        `--web.listen-address=127.0.0.1:${port}`,
      ]
      const prometheus = startProgram('prometheus', argv)
      onTestFinished(async () => {
        await Promise.all([prometheus.stop('SIGKILL'), proxy.close()])
        remove()
      })
      const ask = async (path: string): Promise<Answer> => {
        const answer = (await (await fetch(`http://127.0.0.1:${port}/api/v1/${path}`)).json()) as { readonly data: Answer }
        return answer.data
      }
      const target = await until(async () => (await ask('targets')).activeTargets.find(({ health }) => health !== 'unknown'))
      expect([target.health, target.lastError]).toEqual(['up', ''])
      const { groups } = await ask('rules')
      const names = parse(readFileSync('docker/alerts.yaml', 'utf8')).groups[0].rules.map(({ alert }: { alert: string }) => alert)
      expect(groups[0]?.rules.map(({ name }) => name)).toEqual(names)
    })
  })
})

describe('systemd', () => {
  const UNIT = 'docker/systemd/crosswalk.service'
  const text = readFileSync(UNIT, 'utf8')
  const directive = (key: string) => new RegExp(`^${key}=(.*)$`, 'm').exec(text)?.[1] ?? ''

  /** The flags of V8 that the image starts Node with. */
  const imageFlags = /ENTRYPOINT (\[.*\])/.exec(readFileSync('docker/Dockerfile', 'utf8'))?.[1] ?? '[]'

  describe.runIf(hasProgram('systemd-analyze'))('systemd', () => {
    it('accepts the unit without a warning', () => {
      const { path: folder, remove } = temporaryFolder('unit')
      onTestFinished(remove)
      const here = text.replace('/usr/bin/node', process.execPath).replaceAll('/opt/crosswalk', process.cwd())
      const path = join(folder, 'crosswalk.service')
      writeFileSync(path, here)
      expect(printed('sh', '-c', `systemd-analyze verify --man=no ${path} 2>&1`)).toBe('')
      writeFileSync(path, here.replace('KillMode=mixed', 'KillMode=never'))
      expect(printed('sh', '-c', `systemd-analyze verify --man=no ${path} 2>&1`)).toContain('never')
    })

    it('finds little that the process could do beyond its task', () => {
      expect(printed('systemd-analyze', 'security', '--offline=yes', '--threshold=15', '--no-pager', UNIT)).toContain('Overall exposure')
    })
  })

  describe('the unit', () => {
    it('starts Node as the image does', () => {
      const argv = JSON.parse(imageFlags) as string[]
      expect(directive('ExecStart')).toBe(['/usr/bin/node', ...argv.slice(1), 'serve'].join(' '))
    })

    it('gives a process that stops the time it may take, and files for every connection', () => {
      const config = configWith({})
      const longest = config['limits.drainMs'] + config['limits.lingerMs'] + config['limits.shutdownMs']
      expect(Number(directive('TimeoutStopSec')) * 1000).toBeGreaterThan(longest)
      expect(Number(directive('LimitNOFILE'))).toBeGreaterThan(config['limits.clientConnections'] + config['upstream.connections'])
      expect(directive('ExecReload')).toBe('/bin/kill -HUP $MAINPID')
    })
  })
})
