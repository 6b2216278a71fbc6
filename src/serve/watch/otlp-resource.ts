import { randomUUID } from 'node:crypto'
import { detectResources, envDetector, type Resource, resourceFromAttributes } from '@opentelemetry/resources'
import { systemReason } from '../../errors.ts'
import type { CollectorLog } from './spans.ts'

/** Replicas have one name. Without an id of its own, the counts of one would be taken for those of another. */
const INSTANCE = randomUUID()

/** What spans and metrics say of this process. OpenTelemetry's own variables win. */
export function processResource(): Resource {
  const own = { 'service.name': 'crosswalk', 'service.instance.id': INSTANCE }
  return resourceFromAttributes(own).merge(detectResources({ detectors: [envDetector] }))
}

/** Takes the error of an export, or undefined if the collector took it. */
export type Tell = (error: unknown) => void

/** Logs once that the collector takes nothing, and once that it does again. Neither says what is secret in the address. */
export function createTell(signal: 'traces' | 'metrics', consequence: string, url: string, log: CollectorLog): Tell {
  const { origin, pathname } = new URL(url)
  let isDown = false
  return (error) => {
    if ((error !== undefined) === isDown) return
    isDown = error !== undefined
    if (isDown) log.warn(`${signal} cannot be sent to ${origin}${pathname}: ${reasonOf(error)}; ${consequence}`)
    else log.info(`${signal} are taken again at ${origin}${pathname}`)
  }
}

/** Returns the `export` of an exporter that also tells how each one ended. */
export function telling<Items, Result extends { readonly error?: Error }>(
  sender: { export(items: Items, done: (result: Result) => void): void },
  tell: Tell,
): (items: Items, done: (result: Result) => void) => void {
  return (items, done) =>
    sender.export(items, (result) => {
      tell(result.error)
      done(result)
    })
}

/** An error of the exporter has the status of the answer as its code. */
function reasonOf(error: unknown): string {
  const { code } = error as { code?: unknown }
  return typeof code === 'number' ? `it answers ${code}` : systemReason(error)
}
