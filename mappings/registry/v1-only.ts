import { type Operation, v1OnlyRows } from '../../src/tables/language.ts'

/** Operations that only a v1 service can answer, by reason (facts §22, specification §4.7). Clients read the reasons. */
export const v1OnlyOperations: readonly Operation[] = [
  ...v1OnlyRows(
    'vulnerability reports have no v2 endpoint',
    {
      'registry.vuln_reports.list': 'GET /registry/v1/vuln_reports',
      'registry.vuln_reports.counts': 'GET /registry/v1/vuln_reports/counts',
      'registry.vuln_reports.counts_cumulative': 'GET /registry/v1/vuln_reports/counts_cumulative',
      'registry.vuln_reports.raw': 'GET /registry/v1/vuln_reports/raw',
      'registry.vuln_reports.get': 'GET /registry/v1/repos/{repo_id=**}/digests/{digest}/vulnreport',
    },
    'GET /advisory/v2/images/resolvedVulns, a feed of advisories and no substitute',
  ),
  ...v1OnlyRows(
    'v2 keeps no history of a tag',
    { 'registry.tag_history.list': 'GET /registry/v1/tags/{parent_id=**}/history' },
    'GET /registry/v2/tags/{uid} has the newest entry only: its digest and updateTime',
  ),
  ...v1OnlyRows('the work queue of repo syncing is not in v2', {
    'registry.sync_status.get': 'GET /registry/v1/repos/{repo_id=**}:syncstatus',
    'registry.sync_status.list': 'GET /registry/v1/syncstatuses',
  }),
  ...v1OnlyRows(
    'v2 does not say which updates count as recent',
    {
      'registry.repos.update_status': 'GET /registry/v1/repos/{repo_id=**}:updatestatus',
    },
    'the updateTime of the tags of the repo (GET /registry/v2/tags); the client decides itself what is recent',
  ),
  ...v1OnlyRows(
    'manifests without a tag are not visible in v2',
    {
      'registry.manifests.digest_count': 'GET /registry/v1/digestcount/{parent_id=**}',
      'registry.manifests.list': 'GET /registry/v1/repos/{repo_id=**}/manifestmetdata',
    },
    'GET /registry/v2/tags has the digests of the manifests that have a tag',
  ),
  ...v1OnlyRows('software bills of materials have no v2 endpoint', {
    'registry.sbom.get_raw': 'GET /registry/v1/repos/{repo_id=**}/digest/{digest}/rawsbom',
    'registry.sbom.get': 'GET /registry/v1/repos/{repo_id=**}/digests/{digest}/sbom',
  }),
  ...v1OnlyRows('charts have no v2 endpoint', {
    'registry.charts.find': 'GET /registry/v1/charts:find',
    'registry.charts.add': 'POST /registry/v1/repos/{parent_id=**}:addChart',
    'registry.charts.list_by_image_repo': 'GET /registry/v1/repos/{repo_id=**}/chart-image-bindings',
    'registry.charts.get': 'GET /registry/v1/repos/{repo_id=**}/digests/{digest}/chart',
    'registry.charts.get_helm': 'GET /registry/v1/repos/{repo_id=**}/digests/{digest}/helm',
  }),
  ...v1OnlyRows('deployments have no v2 endpoint', {
    'registry.deployment.get': 'GET /registry/v1/repos/{repo_id=**}/deployment',
    'registry.deployment.create': 'POST /registry/v1/repos/{parent_id=**}/deployment',
    'registry.deployment.update': 'PUT /registry/v1/repos/{repo_id=**}/deployment',
  }),
  ...v1OnlyRows('registry entitlements have no v2 endpoint', {
    'registry.entitlements.list': 'GET /registry/v1/entitlements/{parent=**}',
    'registry.entitlements.create': 'POST /registry/v1/entitlements/{parent=**}',
    'registry.entitlements.delete': 'DELETE /registry/v1/entitlements/{id=**}',
    'registry.entitlements.list_images': 'GET /registry/v1/entitlements/{parent=**}/images',
    'registry.entitlements.list_catalog_images': 'GET /registry/v1/entitlements/{parent=**}/catalog-images',
    'registry.entitlements.add_images': 'POST /registry/v1/entitlements/{parent=**}:addImages',
    'registry.entitlements.remove_images': 'POST /registry/v1/entitlements/{parent=**}:removeImages',
    'registry.entitlements.swap_images': 'POST /registry/v1/entitlements/{parent=**}:swapImages',
    'registry.entitlements.effective': 'GET /registry/v1/entitlements/{parent=**}:effective',
    'registry.entitlements.features': 'GET /registry/v1/entitlements/{parent=**}:features',
    'registry.entitlements.summary': 'GET /registry/v1/entitlements/{parent=**}:summary',
  }),
  ...v1OnlyRows('registry settings have no v2 endpoint', {
    'registry.settings.get': 'GET /registry/v1/settings/{registry_id=**}',
    'registry.settings.update': 'PUT /registry/v1/settings/{registry_id=**}',
  }),
  ...v1OnlyRows('build reports have no v2 endpoint', {
    'registry.build_reports.list': 'GET /registry/v1/buildreports',
    'registry.build_reports.status': 'GET /registry/v1/buildstatus',
  }),
  ...v1OnlyRows('image configurations have no v2 endpoint', {
    'registry.images.config': 'GET /registry/v1/repos/{repo_id=**}/digests/{digest}/imageconfig',
  }),
  ...v1OnlyRows('policy checks have no v2 endpoint', { 'registry.policies.check': 'POST /registry/v1/repos/{repo_id=**}:checkPolicies' }),
  ...v1OnlyRows('package version metadata has no v2 endpoint', { 'registry.versions.get': 'GET /registry/v1/versions/{package=**}' }),
]
