import { HTTPRoute } from '@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1/HTTPRoute'
import { PrometheusRule } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule'
import { ServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor'
import { Deployment } from 'kubernetes-models/apps/v1/Deployment'
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler'
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1/Ingress'
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget'
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap'
import { PersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim'
import { Service } from 'kubernetes-models/v1/Service'
import { ServiceAccount } from 'kubernetes-models/v1/ServiceAccount'
import type { Manifest } from './read.ts'

// biome-ignore lint/suspicious/noExplicitAny: one constructor a kind, each with data of its own type
type Model = { readonly apiVersion: string; readonly prototype: { validate(): void } } & (new (data: any) => object)

const MODELS: Readonly<Record<string, Model>> = {
  ConfigMap,
  Deployment,
  HTTPRoute,
  HorizontalPodAutoscaler,
  Ingress,
  NetworkPolicy,
  PersistentVolumeClaim,
  PodDisruptionBudget,
  PrometheusRule,
  Service,
  ServiceAccount,
  ServiceMonitor,
}

/**
 * Returns what is wrong with a manifest by the schema of its kind, also members that the schema does not have. Kubernetes refuses the
 * latter in a strict request and drops them in any other; the schemas alone accept them.
 */
export function faultsOf(manifest: Manifest): readonly string[] {
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
