import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Manifest } from './read.ts'

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
export function hasSchemas(): boolean {
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
