import type { Case } from '../case.ts'
import { refused } from '../expect.ts'
import * as make from '../fixtures.ts'

const MISSING = '0'.repeat(16)

/** Operations that v2 has no counterpart for (facts §22), with a call for each that could do no harm at a service that has them. */
const calls = (folder: string): Readonly<Record<string, string>> => {
  const repo = `${folder}/${MISSING}`
  const image = `${repo}/digests/${make.digest('0')}`
  return {
    'registry.vuln_reports.list': 'GET /registry/v1/vuln_reports',
    'registry.vuln_reports.counts': 'GET /registry/v1/vuln_reports/counts',
    'registry.vuln_reports.counts_cumulative': 'GET /registry/v1/vuln_reports/counts_cumulative',
    'registry.vuln_reports.raw': 'GET /registry/v1/vuln_reports/raw',
    'registry.vuln_reports.get': `GET /registry/v1/repos/${image}/vulnreport`,
    'registry.tag_history.list': `GET /registry/v1/tags/${repo}/${MISSING}/history`,
    'registry.sync_status.get': `GET /registry/v1/repos/${repo}:syncstatus`,
    'registry.sync_status.list': 'GET /registry/v1/syncstatuses',
    'registry.repos.update_status': `GET /registry/v1/repos/${repo}:updatestatus`,
    'registry.manifests.digest_count': `GET /registry/v1/digestcount/${repo}`,
    'registry.manifests.list': `GET /registry/v1/repos/${repo}/manifestmetdata`,
    'registry.sbom.get_raw': `GET /registry/v1/repos/${repo}/digest/${make.digest('0')}/rawsbom`,
    'registry.sbom.get': `GET /registry/v1/repos/${image}/sbom`,
    'registry.charts.find': 'GET /registry/v1/charts:find',
    'registry.charts.add': `POST /registry/v1/repos/${repo}:addChart`,
    'registry.charts.list_by_image_repo': `GET /registry/v1/repos/${repo}/chart-image-bindings`,
    'registry.charts.get': `GET /registry/v1/repos/${image}/chart`,
    'registry.charts.get_helm': `GET /registry/v1/repos/${image}/helm`,
    'registry.deployment.get': `GET /registry/v1/repos/${repo}/deployment`,
    'registry.deployment.create': `POST /registry/v1/repos/${repo}/deployment`,
    'registry.deployment.update': `PUT /registry/v1/repos/${repo}/deployment`,
    'registry.entitlements.list': `GET /registry/v1/entitlements/${folder}`,
    'registry.entitlements.create': `POST /registry/v1/entitlements/${repo}`,
    'registry.entitlements.delete': `DELETE /registry/v1/entitlements/${repo}`,
    'registry.entitlements.list_images': `GET /registry/v1/entitlements/${folder}/images`,
    'registry.entitlements.list_catalog_images': `GET /registry/v1/entitlements/${folder}/catalog-images`,
    'registry.entitlements.add_images': `POST /registry/v1/entitlements/${repo}:addImages`,
    'registry.entitlements.remove_images': `POST /registry/v1/entitlements/${repo}:removeImages`,
    'registry.entitlements.swap_images': `POST /registry/v1/entitlements/${repo}:swapImages`,
    'registry.entitlements.effective': `GET /registry/v1/entitlements/${folder}:effective`,
    'registry.entitlements.features': `GET /registry/v1/entitlements/${folder}:features`,
    'registry.entitlements.summary': `GET /registry/v1/entitlements/${folder}:summary`,
    'registry.settings.get': `GET /registry/v1/settings/${folder}`,
    'registry.settings.update': `PUT /registry/v1/settings/${repo}`,
    'registry.build_reports.list': 'GET /registry/v1/buildreports',
    'registry.build_reports.status': 'GET /registry/v1/buildstatus',
    'registry.images.config': `GET /registry/v1/repos/${image}/imageconfig`,
    'registry.policies.check': `POST /registry/v1/repos/${repo}:checkPolicies`,
    'registry.versions.get': 'GET /registry/v1/versions/no-such-package',
    'vulnerabilities.advisories.create': 'POST /vulnerabilities/v1/advisories',
    'vulnerabilities.advisories.update': `PUT /vulnerabilities/v1/advisories/${repo}`,
    'vulnerabilities.advisories.delete': `DELETE /vulnerabilities/v1/advisories/${repo}`,
    'vulnerabilities.advisory_events.create': `POST /vulnerabilities/v1/advisories/${repo}/events`,
    'vulnerabilities.advisory_events.update': `PUT /vulnerabilities/v1/advisory_events/${repo}`,
    'libraries.aws_marketplace_subscriptions.list': 'GET /libraries/v1/aws-marketplace-subscriptions',
    'libraries.aws_marketplace_subscriptions.get': `GET /libraries/v1/aws-marketplace-subscriptions/${repo}`,
    'libraries.aws_marketplace_subscriptions.create': `POST /libraries/v1/aws-marketplace-subscriptions/${repo}`,
    'libraries.aws_marketplace_subscriptions.update': `PATCH /libraries/v1/aws-marketplace-subscriptions/${repo}`,
    'libraries.aws_marketplace_subscriptions.cancel': `POST /libraries/v1/aws-marketplace-subscriptions/${repo}:cancel`,
    'libraries.blocked_packages.list': 'GET /libraries/v1/blocked-packages',
    'libraries.entitlements.list': 'GET /libraries/v1/entitlements',
    'libraries.entitlements.create': `POST /libraries/v1/entitlements/${repo}`,
    'libraries.entitlements.delete': `DELETE /libraries/v1/entitlements/${repo}`,
    'libraries.malware.list_block_list': 'GET /libraries/v1/malware/blocklist',
    'libraries.npm_packages.list': 'GET /libraries/v1/npm/packages',
    'libraries.npm_packages.list_versions': 'GET /libraries/v1/npm/packages/versions',
    'libraries.policies.list': 'GET /libraries/v1/policies',
    'libraries.policies.create': `POST /libraries/v1/policies/${repo}`,
    'libraries.policies.update': `PUT /libraries/v1/policies/${repo}`,
    'libraries.policies.delete': `DELETE /libraries/v1/policies/${repo}`,
    'libraries.policy_bindings.list': 'GET /libraries/v1/policy-bindings',
    'libraries.policy_bindings.create': `POST /libraries/v1/policy-bindings/${repo}`,
    'libraries.policy_bindings.update': `PUT /libraries/v1/policy-bindings/${repo}`,
    'libraries.policy_bindings.delete': `DELETE /libraries/v1/policy-bindings/${repo}`,
    'libraries.resolution_cache.list': `GET /libraries/v1/resolutioncache/${repo}/entries`,
    'libraries.resolution_cache.status': `GET /libraries/v1/resolutioncache/${repo}/status`,
    'libraries.resolution_cache.opt_out': `POST /libraries/v1/resolutioncache/${repo}:optout`,
    'libraries.resolution_cache.zap': `POST /libraries/v1/resolutioncache/${repo}:zap`,
  }
}

export const v1Only: readonly Case[] = [
  {
    name: 'operations without a v2 counterpart say what they need',
    difference: 'v1-only',
    operations: Object.keys(calls('')),
    run: async (api) => {
      const { id } = await make.folder(api)
      for (const [operation, call] of Object.entries(calls(id))) {
        const [method = '', path = ''] = call.split(' ')
        const answer = await api.send({ method, path })
        const needs = new RegExp(`^${operation} needs a v1 service: .*upstream\\.v1`)
        if (api.side === 'proxied') refused(answer, 12, needs)
        else if (needs.test(answer.body?.message)) throw new Error(`${call}: a native v1 needs no other one`)
      }
    },
  },
]
