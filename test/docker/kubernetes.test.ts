import { Deployment } from 'kubernetes-models/apps/v1/Deployment'
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget'
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap'
import { Service } from 'kubernetes-models/v1/Service'
import { describe, expect, it } from 'vitest'
import { answering, startProxy, startUpstream } from '../routes/support.ts'
import { configOf, type Manifest, manifests } from './read.ts'

const all = manifests()

function manifest(kind: string): Manifest {
  const found = all[kind]
  if (!found) throw new Error(`docker/kubernetes has no ${kind}`)
  return found
}

// biome-ignore lint/suspicious/noExplicitAny: one constructor a kind, each with data of its own type
const KINDS: Readonly<Record<string, new (data: any) => { validate(): void }>> = {
  ConfigMap,
  Deployment,
  NetworkPolicy,
  PodDisruptionBudget,
  Service,
}

const pod = manifest('Deployment').spec.template.spec
const [container] = pod.containers
const config = configOf({}, manifest('ConfigMap').data['crosswalk.json'])

describe('the manifests', () => {
  it('are all there', () => expect(Object.keys(all).sort()).toEqual(Object.keys(KINDS)))

  it.each(Object.keys(KINDS))('%s fits the schema of Kubernetes', (kind) => {
    const Model = KINDS[kind]
    expect(() => Model && new Model(manifest(kind)).validate()).not.toThrow()
  })

  it('that are wrong would be noticed', () => {
    expect(() => new Deployment({ spec: { replicas: 'two' } } as never).validate()).toThrow()
  })

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
    const proxy = await startProxy({ 'upstream.v2': v2.url })
    for (const name of ['startupProbe', 'readinessProbe', 'livenessProbe']) {
      expect((await fetch(proxy.adminUrl + container[name].httpGet.path)).status).toBe(200)
    }
    await proxy.close()
    await v2.close()
  })

  it('give a pod that stops the time it may take', () => {
    const [, seconds] = container.lifecycle.preStop.exec.command
    const longest = Number(seconds) * 1000 + config['limits.drainMs'] + config['limits.lingerMs'] + config['limits.shutdownMs']
    expect(pod.terminationGracePeriodSeconds * 1000).toBeGreaterThan(longest)
    expect(config['limits.shutdownMs']).toBeGreaterThanOrEqual(config['limits.deadlineMs'])
    // The pod is out of the service before it stops accepting.
    const { periodSeconds, failureThreshold } = container.readinessProbe
    expect(config['limits.drainMs']).toBeGreaterThanOrEqual(periodSeconds * failureThreshold * 1000)
  })

  it('mount the configuration where the proxy looks for it, as a directory', () => {
    const [mount] = container.volumeMounts
    expect(container.env).toEqual([{ name: 'CROSSWALK_CONFIG', value: `${mount.mountPath}/crosswalk.json` }])
    expect(mount).not.toHaveProperty('subPath')
    expect(pod.volumes).toEqual([{ name: mount.name, configMap: { name: manifest('ConfigMap').metadata.name } }])
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
    expect(container.resources).toMatchObject({
      requests: { cpu: expect.any(String), memory: expect.any(String) },
      limits: { memory: expect.any(String) },
    })
  })
})
