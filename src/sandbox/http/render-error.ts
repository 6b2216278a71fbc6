import { CODES, type Detail, type ResourceType, type Status } from '../status.ts'

const GOOGLE = 'type.googleapis.com/google.rpc.'

const domainOf = (service: string, serviceDomain: string): string => `${service}.${serviceDomain}`

const resourceType = (type: ResourceType, serviceDomain: string): string => {
  const [service = '', message = ''] = type.split('.', 2)
  return `${domainOf(service, serviceDomain)}/${message}`
}

const renderDetail = (detail: Detail, serviceDomain: string): Readonly<Record<string, unknown>> => {
  switch (detail.kind) {
    case 'badRequest':
      return { '@type': `${GOOGLE}BadRequest`, fieldViolations: detail.fieldViolations }
    case 'resource':
      return { '@type': `${GOOGLE}ResourceInfo`, resourceType: resourceType(detail.type, serviceDomain), resourceName: detail.name }
    case 'precondition':
      return { '@type': `${GOOGLE}PreconditionFailure`, violations: detail.violations }
  }
}

/** The v2 error body: ErrorInfo first, then the specific detail (semantics §4.1). `service` is the first path segment, e.g. `iam`. */
export const renderStatus = (status: Status, service: string, serviceDomain: string) => ({
  code: CODES[status.code].code,
  message: status.message,
  details: [
    ...(status.reason ? [{ '@type': `${GOOGLE}ErrorInfo`, reason: status.code, domain: domainOf(service, serviceDomain) }] : []),
    ...status.details.map((detail) => renderDetail(detail, serviceDomain)),
  ],
})
