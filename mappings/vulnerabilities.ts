import { type Mapping, v1OnlyRows } from '../src/tables/language.ts'
import { advisoryOperations } from './vulnerabilities/advisories.ts'

export const vulnerabilities: Mapping = {
  domain: 'vulnerabilities',
  operations: [
    ...advisoryOperations,
    ...v1OnlyRows('advisories are read-only in v2', {
      'vulnerabilities.advisories.create': 'POST /vulnerabilities/v1/advisories',
      'vulnerabilities.advisories.update': 'PUT /vulnerabilities/v1/advisories/{id=**}',
      'vulnerabilities.advisories.delete': 'DELETE /vulnerabilities/v1/advisories/{id=**}',
      'vulnerabilities.advisory_events.create': 'POST /vulnerabilities/v1/advisories/{parent_id=**}/events',
      'vulnerabilities.advisory_events.update': 'PUT /vulnerabilities/v1/advisory_events/{id=**}',
    }),
  ],
}
