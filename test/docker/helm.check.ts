import { describe, expect, it } from 'vitest'
import { commandsOf } from '../docs/console.ts'
import { hasProgram, printed } from './programs.ts'
import { checkInPod, configOf, type Manifest, manifestsIn } from './read.ts'
import { faultsOf, hasSchemas } from './schemas.ts'

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

describe.runIf(hasProgram('helm', 'version') && hasProgram('kubectl', 'version', '--client') && hasSchemas())('the chart', () => {
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
    expect(links.filter((link: string) => !/^https:\/\/wiki\.example\.com\/guide\/how-to\/[a-z0-9-]+\.md#[a-z0-9-]+$/.test(link))).toEqual(
      [],
    )
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
