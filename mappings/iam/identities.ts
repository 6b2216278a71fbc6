import { isSaid } from '../../src/errors.ts'
import {
  ask,
  choice,
  create,
  type Env,
  knownBy,
  list,
  message,
  type Operation,
  object,
  ok,
  oneof,
  operation,
  type Plan,
  readOnly,
  remove,
  replace,
  resource,
  scope,
  text,
  textMap,
  texts,
  time,
  uidOf,
  uidToldInPath,
  type V1Request,
  v2Query,
  withheld,
} from '../../src/tables/language.ts'
import { servicePrincipal } from '../enums.ts'

const claimMatch = {
  issuer: oneof('iss', text('issuer')),
  issuer_pattern: oneof('iss', text('issuerPattern')),
  subject: oneof('sub', text('subject')),
  subject_pattern: oneof('sub', text('subjectPattern')),
  audience: oneof('aud', text('audience')),
  audience_pattern: oneof('aud', text('audiencePattern')),
  claims: textMap('claims'),
  claim_patterns: textMap('claimPatterns'),
}

const staticKeys = {
  issuer: text('issuer'),
  subject: text('subject'),
  issuer_keys: text('issuerKeys'),
  expiration: time('expirationTime'),
  audiences: texts('audiences'),
}

const awsIdentity = {
  aws_account: text('awsAccount'),
  arn: oneof('aws_arn', text('arn')),
  arn_pattern: oneof('aws_arn', text('arnPattern')),
  user_id: oneof('aws_user_id', text('userId')),
  user_id_pattern: oneof('aws_user_id', text('userIdPattern')),
}

/** A person or program that tokens represent; `relationship` says which tokens (facts §3.2). */
export const identity = resource('identity', {
  v2: '/iam/v2/identities',
  plural: 'identities',
  stamps: ['group_id'],
  fields: {
    id: readOnly('uid'),
    name: text('name'),
    description: text('description'),
    created_at: readOnly(time('createTime')),
    updated_at: readOnly(time('updateTime')),
    last_seen: readOnly(time('lastSeenTime')),
    claim_match: oneof('relationship', object('claimMatch', claimMatch)),
    static: oneof('relationship', object('staticKeys', staticKeys)),
    service_principal: oneof('relationship', choice('servicePrincipal', servicePrincipal)),
    aws_identity: oneof('relationship', object('awsIdentity', awsIdentity)),
  },
  mask: {
    always: ['name', 'description'],
    // Named as a whole, so that one relationship replaces another; v2 always has one (facts §3.2).
    whenSet: ['claimMatch', 'staticKeys', 'servicePrincipal', 'awsIdentity'],
    // facts §13.5
    because: '* would reset company, which v1 never had',
  },
})

/** The answer of a lookup. A caller who may not read the identity gets only its id (facts §3.2). */
const lookedUp = message('identity found by its claims', knownBy(['id'], identity.fields), ['group_id'])

const claims = { issuer: 'issuer', subject: 'subject' }
const LOOKUP = '/iam/v2/identities:lookupIdentity'

export const identityOperations: readonly Operation[] = [
  list('iam.identities.list', 'GET /iam/v1/identities', identity, { query: scope, byId: 'id' }),
  create('iam.identities.create', 'POST /iam/v1/identities/{parent_id=**}', identity),
  replace('iam.identities.update', 'PUT /iam/v1/identities/{id=**}', identity),
  remove('iam.identities.delete', 'DELETE /iam/v1/identities/{id=**}', identity),
  operation('iam.identities.lookup', 'GET /iam/v1/identities/lookup', {
    kind: 'composed',
    calls: [`GET ${LOOKUP}`, `GET ${identity.v2}/{id}`],
    params: claims,
    answer: lookedUp,
    plan: lookup,
  }),
]

/**
 * v2 answers a uid even for an unregistered identity, so its Get decides: NOT_FOUND is v1's NOT_FOUND. v1 required no capability for a
 * lookup. A caller who may not read the identity still gets its id (facts §3.2).
 */
function* lookup({ query }: V1Request, env: Env): Plan {
  const uid = uidOf(yield* ask({ method: 'GET', path: LOOKUP, query: v2Query(claims, query) }, identity))
  const show = lookedUp.show[env.dialect]
  try {
    return ok(show(yield* ask({ method: 'GET', path: `${identity.v2}/${uidToldInPath(uid)}`, query: [] }, identity)))
  } catch (error) {
    if (isSaid(error, 'PERMISSION_DENIED')) return ok(show({ ...withheld(lookedUp.fields), uid }))
    throw error
  }
}
