import {
  choiceParam,
  choicesParam,
  flagParam,
  identical,
  intParam,
  nothing,
  optionalShape,
  scope,
  shape,
  timeParam,
  type V1OnlyShape,
} from '../../src/tables/language.ts'
import { ecosystem } from './artifacts.ts'

const subscriptionStatus = identical('SubscriptionStatus', [
  'SUBSCRIPTION_STATUS_UNSPECIFIED',
  'SUBSCRIPTION_STATUS_PENDING',
  'SUBSCRIPTION_STATUS_ACTIVE',
  'SUBSCRIPTION_STATUS_UNSUBSCRIBE_PENDING',
  'SUBSCRIPTION_STATUS_UNSUBSCRIBED',
  'SUBSCRIPTION_STATUS_EXPIRED',
])
const libraryPolicyBindingMode = identical('LibraryPolicyBindingMode', [
  'LIBRARY_POLICY_BINDING_MODE_UNSPECIFIED',
  'LIBRARY_POLICY_BINDING_MODE_ENFORCED',
  'LIBRARY_POLICY_BINDING_MODE_LOG',
])
const policy = identical('EntitlementPolicy', ['POLICY_UNKNOWN', 'POLICY_CHAINGUARD', 'POLICY_CHAINGUARD_AND_UPSTREAM'])
const source = identical('EntitlementSource', ['SOURCE_UNKNOWN', 'SOURCE_TRIAL', 'SOURCE_SFDC'])
const malwareScope = identical('MalwareScope', ['MALWARE_SCOPE_UNKNOWN', 'MALWARE_SCOPE_VERSION', 'MALWARE_SCOPE_PACKAGE'])
const npmSourceType = identical('NpmSourceType', [
  'NPM_SOURCE_TYPE_UNKNOWN',
  'NPM_SOURCE_TYPE_INTERNAL',
  'NPM_SOURCE_TYPE_INTERNAL_REMEDIATED',
  'NPM_SOURCE_TYPE_UPSTREAM_REGISTRY',
])
const libraryPolicyType = identical('LibraryPolicyType', [
  'LIBRARY_POLICY_TYPE_UNSPECIFIED',
  'LIBRARY_POLICY_TYPE_SYSTEM',
  'LIBRARY_POLICY_TYPE_CUSTOM',
])
const tier = identical('Tier', ['TIER_UNSPECIFIED', 'TIER_CHAINGUARD', 'TIER_UPSTREAM'])

const awsMarketplaceSubscription = shape('AWS marketplace subscription', {
  id: 'text',
  developer_band: 'int',
  ecosystems: [ecosystem],
  is_free_trial: 'flag',
  status: subscriptionStatus,
  created_at: 'time',
  updated_at: 'time',
})
const awsMarketplaceSubscriptionList = shape('AWS marketplace subscription list', { items: [awsMarketplaceSubscription] })
const libraryPolicyBlockEvent = shape('library policy block event', {
  id: 'text',
  purl: 'text',
  ecosystem: 'text',
  mode: libraryPolicyBindingMode,
  reason: 'text',
  policy: 'text',
  publish_date: 'time',
  cooldown_days: 'int',
  unblocks_at: 'time',
  first_blocked_at: 'time',
  last_blocked_at: 'time',
  attempt_count: 'int',
})
const libraryPolicyBlockEventList = shape('library policy block event list', {
  items: [libraryPolicyBlockEvent],
  next_page_token: 'text',
  total_count: 'long',
  skipped: 'int',
})
const entitlement = shape('library entitlement', { id: 'text', ecosystem, policy, source, cooldown_days: 'int' })
const entitlementList = shape('library entitlement list', { items: [entitlement] })
const malwareBlockListEntry = shape('malware block list entry', {
  package_name: 'text',
  version: 'text',
  scope: malwareScope,
  malid: 'text',
  source: 'text',
  blocked_at: 'time',
  ecosystem: 'text',
  reason: ['text'],
  description: 'text',
})
const malwareBlockListEntryList = shape('malware block list entry list', {
  items: [malwareBlockListEntry],
  next_page_token: 'text',
  total_count: 'long',
})
const npmPackage = shape('npm package', {
  package_name: 'text',
  latest_version: 'text',
  description: 'text',
  license: 'text',
  version_count: 'long',
  source_type: npmSourceType,
})
const npmPackageList = shape('npm package list', { items: [npmPackage], next_page_token: 'text', total_count: 'long' })
const npmPackageVersion = shape('npm package version', {
  package_name: 'text',
  version: 'text',
  license: 'text',
  created_at: 'time',
  file_size: 'long',
  file_count: 'long',
  source_type: npmSourceType,
  sha512: 'text',
  updated_at: 'time',
  upstream_published_date: 'time',
  integrity: 'text',
  provenance_predicate_type: 'text',
  putument_ref: 'text',
  version_metadata: 'text',
  malware_scanned: 'flag',
  malware_malicious: 'flag',
  malware_scanned_at: 'time',
  sbom_formats: ['text'],
})
const npmPackageVersionList = shape('npm package version list', {
  items: [npmPackageVersion],
  next_page_token: 'text',
  total_count: 'long',
})
const libraryBlockListEntry = shape('library block list entry', { purl: 'text' })
const libraryAllowListEntry = shape('library allow list entry', {
  purl: 'text',
  bypass_cooldown: 'flag',
  bypass_malware: 'flag',
  justification: 'text',
})
const libraryPolicy = shape('library policy', {
  id: 'text',
  name: 'text',
  description: 'text',
  policy_type: libraryPolicyType,
  cooldown_days: optionalShape('int'),
  block_list: [libraryBlockListEntry],
  allow_list: [libraryAllowListEntry],
  expression: 'text',
  created_at: 'time',
  updated_at: 'time',
  blocked_licenses: ['text'],
})
const libraryPolicyList = shape('library policy list', {
  items: [libraryPolicy],
  next_page_token: 'text',
  total_count: 'long',
  skipped: 'int',
})
const libraryPolicyBinding = shape('library policy binding', {
  id: 'text',
  policy: 'text',
  ecosystem,
  mode: libraryPolicyBindingMode,
  created_at: 'time',
  updated_at: 'time',
})
const libraryPolicyBindingList = shape('library policy binding list', {
  items: [libraryPolicyBinding],
  next_page_token: 'text',
  total_count: 'long',
  skipped: 'int',
})
const resolutionCacheEntry = shape('resolution cache entry', {
  id: 'text',
  ecosystem,
  registry: 'text',
  package_name: 'text',
  version: 'text',
  tier,
  digest: 'text',
  observed_at: 'time',
  live: 'flag',
})
const resolutionCacheEntryList = shape('resolution cache entry list', {
  items: [resolutionCacheEntry],
  total_count: 'long',
  next_cursor: 'text',
})
const resolutionCacheWatermark = shape('resolution cache watermark', {
  ecosystem,
  generation: 'long',
  zap_count: 'long',
  opted_out: 'flag',
  last_zapped_at: 'time',
})
const resolutionCacheStatus = shape('resolution cache status', { id: 'text', watermarks: [resolutionCacheWatermark] })
const resolutionCacheOptOut = shape('resolution cache opt out', { id: 'text', watermarks: [resolutionCacheWatermark] })
const zapResolutionCacheResult = shape('zap resolution cache result', {
  ecosystem,
  generation: 'long',
  zapped_at: 'time',
  retired_count: 'long',
})
const zapResolutionCacheSummary = shape('zap resolution cache summary', {
  id: 'text',
  results: [zapResolutionCacheResult],
  dry_run: 'flag',
  replayed: 'flag',
})

/** What v1 takes and answers in the operations that it alone serves. Nothing of it is translated (facts §22). */
export const librariesShapes: Readonly<Record<string, V1OnlyShape>> = {
  'libraries.aws_marketplace_subscriptions.list': { params: { ...scope }, answer: awsMarketplaceSubscriptionList },
  'libraries.aws_marketplace_subscriptions.get': { answer: awsMarketplaceSubscription },
  'libraries.aws_marketplace_subscriptions.update': {
    params: { update_mask: '' },
    request: awsMarketplaceSubscription,
    answer: awsMarketplaceSubscription,
  },
  'libraries.aws_marketplace_subscriptions.create': {
    request: shape('create AWS marketplace subscription request', {
      aws_token: 'text',
      developer_band: 'int',
      ecosystems: [ecosystem],
      is_free_trial: 'flag',
    }),
    answer: awsMarketplaceSubscription,
  },
  'libraries.aws_marketplace_subscriptions.cancel': {
    request: nothing,
    answer: awsMarketplaceSubscription,
  },
  'libraries.blocked_packages.list': {
    params: {
      parent_id: '',
      ecosystem: choiceParam('', ecosystem),
      package_name: '',
      mode: choiceParam('', libraryPolicyBindingMode),
      since: timeParam(''),
      page_size: intParam(''),
      page_token: '',
    },
    answer: libraryPolicyBlockEventList,
  },
  'libraries.entitlements.list': { params: { parent_id: '', ecosystems: choicesParam('', ecosystem) }, answer: entitlementList },
  'libraries.entitlements.delete': { answer: nothing },
  'libraries.entitlements.create': {
    params: { policy: choiceParam('', policy), source: choiceParam('', source), cooldown_days: intParam('') },
    request: shape('create library entitlement request', { ecosystem }),
    bodyIs: 'ecosystem',
    answer: entitlement,
  },
  'libraries.malware.list_block_list': {
    params: {
      ecosystem: '',
      package_name: '',
      package_search: '',
      source: '',
      since: timeParam(''),
      scope: choiceParam('', malwareScope),
      page_size: intParam(''),
      page_token: '',
      before: timeParam(''),
      deduplicate_results: flagParam(''),
    },
    answer: malwareBlockListEntryList,
  },
  'libraries.npm_packages.list': {
    params: { query: '', page_size: intParam(''), page_token: '', source_types: choicesParam('', npmSourceType) },
    answer: npmPackageList,
  },
  'libraries.npm_packages.list_versions': {
    params: { package_name: '', page_size: intParam(''), page_token: '', source_types: choicesParam('', npmSourceType) },
    answer: npmPackageVersionList,
  },
  'libraries.policies.list': {
    params: { parent_id: '', page_size: intParam(''), page_token: '', name: '', policy_type: choiceParam('', libraryPolicyType) },
    answer: libraryPolicyList,
  },
  'libraries.policies.delete': { answer: nothing },
  'libraries.policies.create': { request: libraryPolicy, answer: libraryPolicy },
  'libraries.policies.update': {
    request: libraryPolicy,
    answer: libraryPolicy,
  },
  'libraries.policy_bindings.list': {
    params: {
      parent_id: '',
      ecosystem: choiceParam('', ecosystem),
      mode: choiceParam('', libraryPolicyBindingMode),
      page_size: intParam(''),
      page_token: '',
    },
    answer: libraryPolicyBindingList,
  },
  'libraries.policy_bindings.delete': { answer: nothing },
  'libraries.policy_bindings.create': { request: libraryPolicyBinding, answer: libraryPolicyBinding },
  'libraries.policy_bindings.update': {
    request: libraryPolicyBinding,
    answer: libraryPolicyBinding,
  },
  'libraries.resolution_cache.list': {
    params: {
      ecosystem: choiceParam('', ecosystem),
      registry: '',
      package_name: '',
      package_prefix: '',
      tier: choiceParam('', tier),
      live_only: flagParam(''),
      page_size: intParam(''),
      cursor: '',
    },
    answer: resolutionCacheEntryList,
  },
  'libraries.resolution_cache.status': { answer: resolutionCacheStatus },
  'libraries.resolution_cache.opt_out': {
    request: shape('resolution cache opt out request', { ecosystem, opted_out: 'flag' }),
    answer: resolutionCacheOptOut,
  },
  'libraries.resolution_cache.zap': {
    request: shape('zap resolution cache request', {
      ecosystem,
      package_prefix: 'text',
      package_name: 'text',
      version: 'text',
      registry: 'text',
      dry_run: 'flag',
      idempotency_key: 'text',
    }),
    answer: zapResolutionCacheSummary,
  },
}
