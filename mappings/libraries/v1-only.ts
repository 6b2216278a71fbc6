import { type Operation, v1OnlyRows } from '../../src/tables/language.ts'

/** For libraries, v2 offers only the catalogue of artifacts. All their configuration stayed in v1 (facts §22). */
export const v1OnlyOperations: readonly Operation[] = [
  ...v1OnlyRows('marketplace subscriptions have no v2 endpoint', {
    'libraries.aws_marketplace_subscriptions.list': 'GET /libraries/v1/aws-marketplace-subscriptions',
    'libraries.aws_marketplace_subscriptions.get': 'GET /libraries/v1/aws-marketplace-subscriptions/{id=**}',
    'libraries.aws_marketplace_subscriptions.create': 'POST /libraries/v1/aws-marketplace-subscriptions/{parent_id=**}',
    'libraries.aws_marketplace_subscriptions.update': 'PATCH /libraries/v1/aws-marketplace-subscriptions/{id=**}',
    'libraries.aws_marketplace_subscriptions.cancel': 'POST /libraries/v1/aws-marketplace-subscriptions/{id=**}:cancel',
  }),
  ...v1OnlyRows('the record of blocked packages has no v2 endpoint', {
    'libraries.blocked_packages.list': 'GET /libraries/v1/blocked-packages',
  }),
  ...v1OnlyRows('library entitlements have no v2 endpoint', {
    'libraries.entitlements.list': 'GET /libraries/v1/entitlements',
    'libraries.entitlements.create': 'POST /libraries/v1/entitlements/{parent_id=**}',
    'libraries.entitlements.delete': 'DELETE /libraries/v1/entitlements/{id=**}',
  }),
  ...v1OnlyRows('the malware block list has no v2 endpoint', {
    'libraries.malware.list_block_list': 'GET /libraries/v1/malware/blocklist',
  }),
  ...v1OnlyRows('npm packages have no v2 endpoint', {
    'libraries.npm_packages.list': 'GET /libraries/v1/npm/packages',
    'libraries.npm_packages.list_versions': 'GET /libraries/v1/npm/packages/versions',
  }),
  ...v1OnlyRows('library policies have no v2 endpoint', {
    'libraries.policies.list': 'GET /libraries/v1/policies',
    'libraries.policies.create': 'POST /libraries/v1/policies/{parent_id=**}',
    'libraries.policies.update': 'PUT /libraries/v1/policies/{id=**}',
    'libraries.policies.delete': 'DELETE /libraries/v1/policies/{id=**}',
  }),
  ...v1OnlyRows('policy bindings have no v2 endpoint', {
    'libraries.policy_bindings.list': 'GET /libraries/v1/policy-bindings',
    'libraries.policy_bindings.create': 'POST /libraries/v1/policy-bindings/{parent_id=**}',
    'libraries.policy_bindings.update': 'PUT /libraries/v1/policy-bindings/{id=**}',
    'libraries.policy_bindings.delete': 'DELETE /libraries/v1/policy-bindings/{id=**}',
  }),
  ...v1OnlyRows('the resolution cache has no v2 endpoint', {
    'libraries.resolution_cache.list': 'GET /libraries/v1/resolutioncache/{parent_id=**}/entries',
    'libraries.resolution_cache.status': 'GET /libraries/v1/resolutioncache/{parent_id=**}/status',
    'libraries.resolution_cache.opt_out': 'POST /libraries/v1/resolutioncache/{parent_id=**}:optout',
    'libraries.resolution_cache.zap': 'POST /libraries/v1/resolutioncache/{parent_id=**}:zap',
  }),
]
