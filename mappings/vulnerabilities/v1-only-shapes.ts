import { nothing, shape, type V1OnlyShape } from '../../src/tables/language.ts'
import { advisory, event } from './advisories.ts'

const createAdvisoryRequest = shape('create advisory request', { parent_id: 'text', advisory })

/** What v1 takes and answers in the operations that it alone serves. Nothing of it is translated (facts §22). */
export const vulnerabilitiesShapes: Readonly<Record<string, V1OnlyShape>> = {
  'vulnerabilities.advisories.create': { request: createAdvisoryRequest, answer: advisory },
  'vulnerabilities.advisories.delete': { answer: nothing },
  'vulnerabilities.advisories.update': { request: advisory, answer: advisory },
  'vulnerabilities.advisory_events.create': { request: shape('create advisory event request', { advisory_event: event }), answer: event },
  'vulnerabilities.advisory_events.update': { request: event, answer: event },
}
