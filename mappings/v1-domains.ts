import { type Mapping, v1Only, v1OnlyRows, withoutToken } from '../src/tables/language.ts'

/**
 * The published v1 paths of domains without a v2.
 * `/sts` is not among them: v2 publishes the same three paths, and every path that is not v1 goes to v2.
 */
export const v1Domains: readonly Mapping[] = [
  v1Domain('policies', 'policies have no v2 endpoint', {
    'policies.policies.list': 'GET /policies/v1/policies',
    'policies.policies.create': 'POST /policies/v1/policies/{parent_id=**}',
    'policies.policies.update': 'PUT /policies/v1/policies/{id=**}',
    'policies.policies.delete': 'DELETE /policies/v1/policies/{id=**}',
    'policies.policies.validate': 'POST /policies/v1/policies/validate',
    'policies.bindings.list': 'GET /policies/v1/bindings',
    'policies.bindings.create': 'POST /policies/v1/bindings/{parent_id=**}',
    'policies.bindings.update': 'PUT /policies/v1/bindings/{id=**}',
    'policies.bindings.delete': 'DELETE /policies/v1/bindings/{id=**}',
    'policies.decisions.list': 'GET /policies/v1/decisions',
    'policies.overrides.list': 'GET /policies/v1/overrides',
    'policies.overrides.create': 'POST /policies/v1/overrides/{parent_id=**}',
    'policies.overrides.delete': 'DELETE /policies/v1/overrides/{id=**}',
  }),
  v1Domain('argos', 'the vulnerability database has no v2 endpoint', {
    'argos.documents.list': 'GET /argos/v1/documents',
    'argos.documents.create': 'POST /argos/v1/documents/{parent_id=**}',
    'argos.documents.delete': 'DELETE /argos/v1/documents/{id=**}',
    'argos.documents.public_key': 'GET /argos/v1/orgs/{parent_id=**}/publicKey',
    'argos.osv.get': 'GET /argos/v1/osv/vulns/{id=**}',
    'argos.osv.query': 'POST /argos/v1/osv/query',
    'argos.osv.query_batch': 'POST /argos/v1/osv/querybatch',
    'argos.osv.dump': 'GET /argos/v1/osv/dump',
    'argos.vulns.list': 'GET /argos/v1/orgs/{parent=**}/vulns',
    'argos.vulns.batch_get': 'POST /argos/v1/orgs/{parent=**}/vulns:batchGet',
  }),
  {
    // A workflow authenticates by the content of its request, not by a token of the service.
    domain: 'actions',
    operations: v1OnlyRows('the authorization of workflows has no v2 endpoint', {
      'actions.authorization.authorize_with_oidc': 'POST /actions/v1/authorize/oidc',
      'actions.authorization.issue_challenge': 'POST /actions/v1/challenge/issue',
      'actions.authorization.verify_challenge': 'POST /actions/v1/challenge/verify',
      'actions.authorization.ca': 'GET /actions/v1/ca',
      'actions.authorization.trusted_keys': 'GET /actions/v1/trusted-keys',
      'actions.runs.record': 'POST /actions/v1/record',
    }).map(withoutToken),
  },
  {
    domain: 'auth',
    operations: [
      ...v1OnlyRows('v2 describes no tokens and removes no users', {
        'auth.auth.validate': 'GET /auth/v1/ok',
        'auth.auth.delete': 'DELETE /auth/v1/delete/{id}',
      }),
      // It takes a token of another issuer, which no other operation would accept.
      withoutToken(v1Only('auth.auth.register', 'POST /auth/v1/register', 'v2 registers no users')),
    ],
  },
  v1Domain('skills', 'entitlements to skills have no v2 endpoint', {
    'skills.entitlements.list': 'GET /skills/v1/entitlements',
    'skills.entitlements.create': 'POST /skills/v1/entitlements/{parent_id=**}',
    'skills.entitlements.delete': 'DELETE /skills/v1/entitlements/{id=**}',
  }),
  v1Domain('apk', 'packages of the distribution have no v2 endpoint', {
    'apk.packages.list': 'GET /apk/v1/packages',
    'apk.packages.list_summaries': 'GET /apk/v1/package-summaries',
  }),
  v1Domain('apko', 'builds of images have no v2 endpoint', {
    'apko.images.resolve': 'POST /apko/v1/resolve/{repo_uidp=**}',
    'apko.images.build': 'POST /apko/v1/build/{repo_uidp=**}',
  }),
  v1Domain('ecosystems', 'entitlements to ecosystems have no v2 endpoint', {
    'ecosystems.entitlements.list': 'GET /ecosystems/v1/entitlements',
    'ecosystems.entitlements.create': 'POST /ecosystems/v1/entitlements/{parent_id=**}',
    'ecosystems.entitlements.delete': 'DELETE /ecosystems/v1/entitlements/{id=**}',
  }),
  v1Domain('packages', 'entitlements to packages have no v2 endpoint', {
    'packages.entitlements.list': 'GET /packages/v1/entitlements',
  }),
  v1Domain('image-recommendation', 'recommended images have no v2 endpoint', {
    'image-recommendation.images.match': 'POST /image-recommendation/v1/match',
  }),
]

/** Returns a domain that only a v1 service has, with the reason. */
function v1Domain(domain: string, because: string, routes: Readonly<Record<string, string>>): Mapping {
  return { domain, operations: v1OnlyRows(because, routes) }
}
