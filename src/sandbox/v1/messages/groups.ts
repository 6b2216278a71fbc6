import { choice, flag, int32, map, message, readOnly, text } from '../message.ts'
import { sameNames } from '../vocabulary.ts'

const orgKind = sameNames(
  'OrgKind',
  'ORG_KIND_UNSPECIFIED',
  'ORG_KIND_STARTER',
  'ORG_KIND_CUSTOMER',
  'ORG_KIND_DEV',
  'ORG_KIND_INFRA',
  'ORG_KIND_AWS_MARKETPLACE',
)
const orgStatus = sameNames('OrgStatus', 'ORG_STATUS_UNSPECIFIED', 'ORG_STATUS_INITIALIZING', 'ORG_STATUS_READY', 'ORG_STATUS_SUSPENDED')

/** Group (facts §3.1). */
export const group = message(
  'Group',
  [
    readOnly(text('id', { from: 'uid' })),
    text('name'),
    text('description'),
    readOnly(map(int32('resource_limits'))),
    flag('verified'),
    choice(orgKind)('kind'),
    readOnly(choice(orgStatus)('status')),
  ],
  ['created_at', 'updated_at', 'group_id'],
)

export const eligibility = message('CheckEligibilityResponse', [flag('eligible')])
