import {
  choiceParam,
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
import { packageVersion } from './package-version.ts'
import { catalogTier } from './repo.ts'

const buildReportResult = identical('BuildReport.Result', ['Unknown', 'Success', 'Failure'])
const chartCatalog = identical('ChartCatalog', ['CHART_CATALOG_UNSPECIFIED', 'CHART_CATALOG_COMMUNITY', 'CHART_CATALOG_IAMGUARDED'])
const chartImageRequirement = identical('ChartImageRequirement', [
  'REQUIREMENT_UNSPECIFIED',
  'REQUIREMENT_REQUIRED',
  'REQUIREMENT_OPTIONAL',
])
const entitlementType = identical('Entitlement.Type', ['UNKNOWN', 'TRIAL', 'PRODUCTION', 'EXTRA', 'STARTER'])
const plan = identical('Plan', ['PLAN_UNSPECIFIED', 'PER_IMAGE', 'CATALOG', 'STARTER'])
const policyMode = identical('PolicyMode', ['POLICY_MODE_UNSPECIFIED', 'ENFORCED', 'DRY_RUN'])
const policyCheckResult = identical('PolicyCheckResult', ['POLICY_CHECK_RESULT_UNSPECIFIED', 'ALLOWED', 'DENIED', 'ERROR'])
const componentGraphEdgeType = identical('ComponentGraph.Edge.Type', ['UNKNOWN', 'DESCRIBES', 'CONTAINS', 'DEPENDS_ON', 'GENERATED_FROM'])
const sbom2Source = identical('Sbom2.Source', ['UNKNOWN', 'INGESTED', 'GENERATED'])
const syncStatusStatus = identical('SyncStatus.Status', ['UNKNOWN', 'QUEUED', 'IN_PROGRESS', 'FAILED'])
const vulnerabilityRecordSeverity = identical('VulnerabilityRecord.Severity', ['UNKNOWN', 'LOW', 'MEDIUM', 'HIGH', 'CRITICAL'])
const fixState = identical('Fix.State', ['UNKNOWN', 'FIXED', 'NOT_FIXED', 'WONT_FIX'])
const scannerName = identical('Scanner.Name', ['UNKNOWN', 'GRYPE', 'TRIVY'])
const vulnerabilitySeverity = identical('Vulnerability.Severity', ['UNKNOWN', 'LOW', 'MEDIUM', 'HIGH', 'CRITICAL', 'NEGLIGIBLE'])
const vulnerabilityFixState = identical('Vulnerability.Fix.State', ['UNKNOWN', 'FIXED', 'NOT_FIXED', 'WONT_FIX'])

const buildReport = shape('build report', {
  id: 'text',
  media_type: 'text',
  config: 'text',
  locked_config: 'text',
  result: buildReportResult,
  warnings: ['text'],
  log: 'text',
  digest: 'text',
  apko_version: 'text',
  started_at: 'time',
  completed_at: 'time',
})
const buildReportList = shape('build report list', { reports: [buildReport] })
const buildStatusFailures = shape('build status failures', { repo_id: 'text', total: 'int' })
const buildStatus = shape('build status', { failures: [buildStatusFailures] })
const findChartResponse = shape('find chart response', { source_repo_id: 'text', name: 'text' })
const addChartResult = shape('add chart result', { name: 'text', created: 'flag', id: 'text' })
const addChartResponse = shape('add chart response', { repos: [addChartResult] })
const chartImageBinding = shape('chart image binding', { chart_repo: 'text', requirement: chartImageRequirement })
const listChartsByImageRepoResponse = shape('list charts by image repo response', { chart_image_bindings: [chartImageBinding] })
const chartDependency = shape('chart dependency', { name: 'text', version: 'text', repository: 'text' })
const chartImage = shape('chart image', { name: 'text', image: 'text', requirement: chartImageRequirement })
const chart = shape('chart', {
  name: 'text',
  version: 'text',
  app_version: 'text',
  description: 'text',
  dependencies: [chartDependency],
  annotations: { mapOf: 'text' },
  images: [chartImage],
  raw: 'text',
  values: 'text',
  changelog: 'text',
})
const helm = shape('helm', { chart_name: 'text', chart_version: 'text', chart_repository: 'text', chart_digest: 'text', values: 'text' })
const helmChart = shape('helm chart', { source: optionalShape('text'), repo: 'text', chart: optionalShape('text') })
const deployment = shape('deployment', { id: 'text', charts: [helmChart] })
const imageQuota = shape('image quota', { current: 'int', max: 'int' })
const entitlement = shape('entitlement', {
  id: 'text',
  external_id: 'text',
  create_time: 'time',
  update_time: 'time',
  expiration_time: 'time',
  type: entitlementType,
  quota: { mapOf: imageQuota },
  tiers: [catalogTier],
})
const entitlementList = shape('entitlement list', { items: [entitlement] })
const entitlementImage = shape('entitlement image', { id: 'text', tier: catalogTier, name: 'text' })
const entitlementImagesList = shape('entitlement images list', { images: [entitlementImage] })
const entitledImage = shape('entitled image', {
  id: 'text',
  name: 'text',
  catalog_tier: catalogTier,
  type: entitlementType,
  expiration_time: 'time',
})
const addEntitlementImagesResponse = shape('add entitlement images response', { images: [entitledImage], parent: 'text' })
const getEffectiveEntitlementsResponse = shape('get effective entitlements response', {
  plan,
  active_tiers: [catalogTier],
  active_images: [entitledImage],
  quota: { mapOf: imageQuota },
  max_total_images: 'int',
  swap_quota: 'int',
  swaps_used: 'int',
  swap_refill_time: 'time',
})
const getFeaturesResponse = shape('get features response', { custom_assembly: 'flag', unique_tags: 'flag' })
const removeEntitlementImagesResponse = shape('remove entitlement images response', { images: [entitledImage], parent: 'text' })
const entitlementSummaryResponse = shape('entitlement summary response', { quota: { mapOf: imageQuota }, last_updated_time: 'time' })
const swapEntitlementImagesResponse = shape('swap entitlement images response', {
  removed: [entitledImage],
  added: [entitledImage],
  parent: 'text',
})
const imageConfigExposedPort = shape('image config exposed port', {})
const imageConfigVolume = shape('image config volume', {})
const imageConfig = shape('image config', {
  user: 'text',
  exposed_ports: { mapOf: imageConfigExposedPort },
  env: ['text'],
  entrypoint: ['text'],
  cmd: ['text'],
  volumes: { mapOf: imageConfigVolume },
  working_dir: 'text',
  labels: { mapOf: 'text' },
  stop_signal: 'text',
})
const manifestDigestCount = shape('manifest digest count', { count: 'long' })
const pkgMetadata = shape('pkg metadata', { purl: 'text', origin_purl: 'text', eol_date: 'time', build_timestamp: 'time', license: 'text' })
const manifestMetadata = shape('manifest metadata', { digest: 'text', pkg_metadata: [pkgMetadata] })
const manifestMetadataList = shape('manifest metadata list', { items: [manifestMetadata] })
const policyResult = shape('policy result', {
  policy_id: 'text',
  policy_name: 'text',
  mode: policyMode,
  result: policyCheckResult,
  binding_id: 'text',
  parameters: { mapOf: 'any' },
})
const checkPoliciesResponse = shape('check policies response', { results: [policyResult] })
const updateStatus = shape('update status', { recently_updated: 'flag' })
const rawSbom = shape('raw sbom', { rawSbom: 'text' })
const package2 = shape('package2', { id: 'text', name: 'text', version: 'text', license: 'text', description: 'text', purl: 'text' })
const file2 = shape('file2', { id: 'text', name: 'text', types: ['text'] })
const componentGraphNode = shape('component graph node', {
  package: optionalShape(package2, 'typed_node'),
  file: optionalShape(file2, 'typed_node'),
})
const componentGraphEdge = shape('component graph edge', { subject_id: 'text', predicate_id: 'text', type: componentGraphEdgeType })
const componentGraph = shape('component graph', { nodes: [componentGraphNode], edges: [componentGraphEdge] })
const sbom2 = shape('sbom2', {
  id: 'text',
  raw_sbom: 'bytes',
  graph: componentGraph,
  last_seen: 'time',
  tool: 'text',
  format: 'text',
  generated_at: 'time',
  authors: 'text',
  source: sbom2Source,
  name: 'text',
  description: 'text',
  digest: optionalShape('text'),
})
const registrySettings = shape('registry settings', { registry_id: 'text', unique_tags: 'flag', eol_grace_period: 'flag' })
const syncStatus = shape('sync status', { status: syncStatusStatus, create_time: 'time' })
const repoSyncStatus = shape('repo sync status', { repo_id: 'text', repo_status: syncStatus })
const syncStatusList = shape('sync status list', { items: [repoSyncStatus] })
const tagHistory = shape('tag history', { update_timestamp: 'time', digest: 'text' })
const tagHistoryList = shape('tag history list', { items: [tagHistory] })
const packageVersionMetadata = shape('package version metadata', {
  eolVersions: [packageVersion],
  lastUpdatedTimestamp: 'text',
  latestVersion: 'text',
  versions: [packageVersion],
  gracePeriodMonths: 'int',
})
const vulnerabilityRecordCvss = shape('vulnerability record cvss', { score: 'text', version: 'text' })
const vulnerabilityRecordRelatedVulnerability = shape('vulnerability record related vulnerability', { id: 'text', source: 'text' })
const vulnerabilityRecord = shape('vulnerability record', {
  id: 'text',
  description: 'text',
  severity: vulnerabilityRecordSeverity,
  source: 'text',
  cvss: [vulnerabilityRecordCvss],
  cpe_uri: ['text'],
  related_urls: ['text'],
  advisories: { mapOf: 'text' },
  related_vulnerabilities: [vulnerabilityRecordRelatedVulnerability],
  display_id: 'text',
})
const fix = shape('fix', { versions: ['text'], state: fixState })
const vulnerabilityMatch = shape('vulnerability match', { vulnerability: vulnerabilityRecord, pkg: package2, fix: optionalShape(fix) })
const tenantScanner = shape('tenant scanner', { name: 'text', version: 'text' })
const tenantVulnReport = shape('tenant vuln report', {
  id: 'text',
  vulnerability_db_last_build_time: 'time',
  vulnerability_matches: [vulnerabilityMatch],
  scanner: tenantScanner,
  report_generation: 'time',
  raw_vuln_report: 'bytes',
  last_seen: 'time',
})
const scanner = shape('scanner', { name: scannerName, version: 'text', db_build_time: 'time' })
const vulnerabilityCVSS = shape('vulnerability CVSS', { score: 'text', version: 'text' })
const vulnerabilityFix = shape('vulnerability fix', { versions: ['text'], state: vulnerabilityFixState })
const vulnerability = shape('vulnerability', {
  id: 'text',
  aliases: ['text'],
  purls: ['text'],
  description: 'text',
  details: 'text',
  severity: vulnerabilitySeverity,
  cvss: [vulnerabilityCVSS],
  fix: vulnerabilityFix,
  related_urls: ['text'],
  locations: ['text'],
})
const vulnReport = shape('vuln report', {
  digest: 'text',
  scanner,
  created_at: 'time',
  vulnerabilities: [vulnerability],
})
const vulnReportList = shape('vuln report list', { items: [vulnReport] })
const vulnCount = shape('vuln count', { severity: vulnerabilitySeverity, count: 'int' })
const vulnCountReport = shape('vuln count report', {
  repo: 'text',
  tag: 'text',
  date: 'time',
  vuln_counts: [vulnCount],
  size_bytes: 'long',
  cve_ids: ['text'],
  low_cve_ids: ['text'],
  med_cve_ids: ['text'],
  high_cve_ids: ['text'],
  crit_cve_ids: ['text'],
  negligible_cve_ids: ['text'],
  unknown_cve_ids: ['text'],
})
const vulnCountReportList = shape('vuln count report list', { items: [vulnCountReport] })
const rawVulnReport = shape('raw vuln report', {
  digest: 'text',
  scanner,
  created_at: 'time',
  raw_report: 'text',
  raw_report_url: 'text',
})

/** What v1 takes and answers in the operations that it alone serves. Nothing of it is translated (facts §22). */
export const registryShapes: Readonly<Record<string, V1OnlyShape>> = {
  'registry.build_reports.list': {
    params: { ...scope, started_since: timeParam(''), started_before: timeParam(''), exclude_logs: flagParam(''), page_size: intParam('') },
    answer: buildReportList,
  },
  'registry.build_reports.status': {
    params: { ...scope, started_since: timeParam(''), started_before: timeParam(''), exclude_logs: flagParam(''), page_size: intParam('') },
    answer: buildStatus,
  },
  'registry.charts.find': { params: { catalog: choiceParam('', chartCatalog), name: '' }, answer: findChartResponse },
  'registry.charts.add': {
    request: shape('add chart request', { source_repo_id: 'text', dry_run: 'flag', tag: 'text' }),
    answer: addChartResponse,
  },
  'registry.charts.list_by_image_repo': { answer: listChartsByImageRepoResponse },
  'registry.charts.get': { answer: chart },
  'registry.charts.get_helm': { params: { arch: '' }, answer: helm },
  'registry.deployment.get': { answer: deployment },
  'registry.deployment.create': { request: shape('create deployment request', { charts: [helmChart] }), answer: deployment },
  'registry.deployment.update': { request: shape('update deployment request', { charts: [helmChart] }), answer: deployment },
  'registry.entitlements.delete': { answer: nothing },
  'registry.entitlements.list': { answer: entitlementList },
  'registry.entitlements.create': { request: entitlement, answer: entitlement },
  'registry.entitlements.list_catalog_images': { answer: entitlementImagesList },
  'registry.entitlements.list_images': { answer: entitlementImagesList },
  'registry.entitlements.add_images': {
    request: shape('add entitlement images request', { id: optionalShape('text', 'entitlement'), image_names: ['text'] }),
    answer: addEntitlementImagesResponse,
  },
  'registry.entitlements.effective': { answer: getEffectiveEntitlementsResponse },
  'registry.entitlements.features': { answer: getFeaturesResponse },
  'registry.entitlements.remove_images': {
    request: shape('remove entitlement images request', { id: optionalShape('text', 'entitlement'), image_names: ['text'] }),
    answer: removeEntitlementImagesResponse,
  },
  'registry.entitlements.summary': { answer: entitlementSummaryResponse },
  'registry.entitlements.swap_images': {
    request: shape('swap entitlement images request', {
      id: optionalShape('text', 'entitlement'),
      remove_image_names: ['text'],
      add_image_names: ['text'],
    }),
    answer: swapEntitlementImagesResponse,
  },
  'registry.images.config': { params: { arch: '', registry: flagParam('') }, answer: imageConfig },
  'registry.manifests.digest_count': { answer: manifestDigestCount },
  'registry.manifests.list': { answer: manifestMetadataList },
  'registry.policies.check': { request: shape('check policies request', { digest: 'text' }), answer: checkPoliciesResponse },
  'registry.repos.update_status': { answer: updateStatus },
  'registry.sbom.get_raw': { params: { reference: '', arch: '' }, answer: rawSbom },
  'registry.sbom.get': { params: { arch: '' }, answer: sbom2 },
  'registry.settings.get': { answer: registrySettings },
  'registry.settings.update': {
    request: shape('registry settings request', { unique_tags: 'flag', eol_grace_period: 'flag' }),
    answer: registrySettings,
  },
  'registry.sync_status.get': { answer: syncStatus },
  'registry.sync_status.list': { params: { registry_id: '' }, answer: syncStatusList },
  'registry.tag_history.list': { params: { start: timeParam(''), end: timeParam('') }, answer: tagHistoryList },
  'registry.versions.get': { answer: packageVersionMetadata },
  'registry.vuln_reports.get': { answer: tenantVulnReport },
  'registry.vuln_reports.list': {
    params: {
      repo_id: '',
      digest: '',
      tag: '',
      'scanner.name': choiceParam('', scannerName),
      'scanner.version': '',
      'scanner.db_build_time': timeParam(''),
      created_since: timeParam(''),
    },
    answer: vulnReportList,
  },
  'registry.vuln_reports.counts': { params: { repo: '', tag: '', from: timeParam(''), to: timeParam('') }, answer: vulnCountReportList },
  'registry.vuln_reports.counts_cumulative': {
    params: { repo: '', tag: '', from: timeParam(''), to: timeParam('') },
    answer: vulnCountReportList,
  },
  'registry.vuln_reports.raw': {
    params: { digest: '', scanner: choiceParam('', scannerName), created_at: timeParam('') },
    answer: rawVulnReport,
  },
}
