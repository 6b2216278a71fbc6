import { invalidArgument } from '../../../src/errors.ts'
import { failure, type Transcript } from '../transcript.ts'

/** A request with a value of the wrong type. It is refused with v1's names, and v2 is not asked. */
function refused(operation: string, request: string, body: unknown, field: string, description: string): Transcript {
  const { message, details } = invalidArgument({ field, description })
  return {
    title: `${field} ${description}`,
    operation,
    request,
    body,
    calls: [],
    status: 400,
    reply: failure('INVALID_ARGUMENT', message, details),
  }
}

const TIME = 'must be an RFC 3339 timestamp'
const DURATION = 'must be a duration in seconds such as "3600s"'
const SCIM = 'POST /iam/v1/identityProviders/org/idp'

export const refusals: readonly Transcript[] = [
  refused('iam.identity_providers.generate_scim_token', `${SCIM}:generateScimToken`, { expire_time: 'soon' }, 'expire_time', TIME),
  refused('iam.identity_providers.regenerate_scim_token', `${SCIM}:regenerateScimToken`, { expireTime: 'soon' }, 'expire_time', TIME),
  refused('iam.group_invites.create', 'POST /iam/v1/group_invites/org', { ttl: '1h' }, 'ttl', DURATION),
  {
    title: 'updated_since is a time',
    operation: 'registry.tags.list',
    request: 'GET /registry/v1/tags?updated_since=yesterday',
    calls: [],
    status: 400,
    reply: failure('INVALID_ARGUMENT', 'parsing field "updated_since": "yesterday" is not an RFC 3339 time'),
  },
]
