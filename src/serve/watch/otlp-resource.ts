import { randomUUID } from 'node:crypto'
import { detectResources, envDetector, type Resource, resourceFromAttributes } from '@opentelemetry/resources'

/** Replicas have one name. Without an id of its own, the counts of one would be taken for those of another. */
const INSTANCE = randomUUID()

/** What spans and metrics say of this process. OpenTelemetry's own variables win. */
export function processResource(): Resource {
  const own = { 'service.name': 'crosswalk', 'service.instance.id': INSTANCE }
  return resourceFromAttributes(own).merge(detectResources({ detectors: [envDetector] }))
}
