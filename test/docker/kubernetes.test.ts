import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'
import { listOf } from '../../src/app/config/kinds.ts'
import { envOf } from '../../src/app/config/settings.ts'
import { createTrust } from '../../src/serve/http/forwarded.ts'
import { memoryOf } from '../docs/generated/stranger-cost.ts'
import { startProxy } from '../stage/proxy.ts'
import { answering, startUpstream } from '../stage/upstream.ts'
import { BASE, checkInPod, configOf, type Manifest, manifests } from './read.ts'

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

describe('the manifests', () => {
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
    const v2 = await startUpstream(answering({}))
    const proxy = await startProxy({ 'upstream.v2': v2.url, 'admin.token': 'that-no-probe-has-at-hand' })
    for (const name of ['startupProbe', 'readinessProbe', 'livenessProbe']) {
      expect((await fetch(proxy.adminUrl + container[name].httpGet.path)).status).toBe(200)
    }
    await proxy.close()
    await v2.close()
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
