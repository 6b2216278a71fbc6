import { enumMap, identical, prefixed } from '../src/tables/language.ts'

/** The kinds of an organization (facts §18). */
export const orgKind = identical('OrgKind', [
  'ORG_KIND_UNSPECIFIED',
  'ORG_KIND_STARTER',
  'ORG_KIND_CUSTOMER',
  'ORG_KIND_DEV',
  'ORG_KIND_INFRA',
  'ORG_KIND_AWS_MARKETPLACE',
])

/** How far the set-up of an organization is. */
export const orgStatus = identical('OrgStatus', [
  'ORG_STATUS_UNSPECIFIED',
  'ORG_STATUS_INITIALIZING',
  'ORG_STATUS_READY',
  'ORG_STATUS_SUSPENDED',
])

/** The service behind an identity. */
export const servicePrincipal = prefixed(
  'ServicePrincipal',
  'SERVICE_PRINCIPAL_',
  ['UNKNOWN', 'SERVICE_PRINCIPAL_UNSPECIFIED'],
  [
    ['COSIGNED', 1],
    ['INGESTER', 2],
    ['CATALOG_SYNCER', 3],
    ['APKO_BUILDER', 4],
    ['ENTITLEMENT_SYNCER', 5],
    ['TENANT_SCANNER', 6],
    ['SEDIMENTOLOGY', 7],
    ['SKILLUP', 8],
    ['MATERIALIZER', 9],
    ['MICROFLOW', 10],
    ['GUARDENER', 11],
    ['MICROVM', 12],
    ['SKILLS', 13],
  ],
)

/** The claim of an external user that must equal the id in SCIM. */
export const correlationRule = identical('CorrelationRule', [
  'CORRELATION_RULE_UNSPECIFIED',
  'CORRELATION_RULE_SUB_EQUALS_EXTERNAL_ID',
  'CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID',
])

/** The states of a SCIM token. */
export const credentialState = identical('CredentialState', [
  'CREDENTIAL_STATE_UNSPECIFIED',
  'CREDENTIAL_STATE_NOT_ISSUED',
  'CREDENTIAL_STATE_LIVE',
  'CREDENTIAL_STATE_EXPIRED',
  'CREDENTIAL_STATE_REVOKED',
  'CREDENTIAL_STATE_ROTATING',
])

/** The cloud whose association is checked. */
export const accountType = prefixed(
  'AccountType',
  'ACCOUNT_PROVIDER_TYPE_',
  ['UNKNOWN', 'ACCOUNT_PROVIDER_TYPE_UNSPECIFIED'],
  [
    ['GOOGLE', 1],
    ['AMAZON', 2],
    ['AZURE', 3],
  ],
)

/** The result of that check; v1 writes it in mixed case (facts §18). */
export const checkState = enumMap('AccountAssociationsStatus.State', [
  ['UNKNOWN', 'CHECK_STATUS_UNSPECIFIED', 0, 0],
  ['Ready', 'CHECK_STATUS_READY', 1, 1],
  ['NotReady', 'CHECK_STATUS_NOT_READY', 2, 2],
])
