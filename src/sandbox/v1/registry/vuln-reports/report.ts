import { requireCapability } from '../../../auth/rights/authorize.ts'
import { callerOf } from '../../../http/route.ts'
import type { Finding } from '../../../scans/findings.ts'
import { rawReportOf, SCANNER, type Scan, scanAt } from '../../../scans/scans.ts'
import { uidParam } from '../../../v2/reads.ts'
import { imageUid } from '../../../v2/registry/images.ts'
import { encode } from '../../encode.ts'
import { vulnReport } from '../../messages/vuln-reports.ts'
import type { Operation } from '../../operation.ts'

const matchOf = ({ id, aliases, level, score, packageName, advisoryId, fix }: Finding) => ({
  vulnerability: {
    id,
    displayId: id,
    severity: level,
    source: 'nvd',
    cvss: score === '' ? [] : [{ score, version: '3.1' }],
    advisories: { [advisoryId]: packageName },
    relatedVulnerabilities: aliases.map((alias) => ({ id: alias, source: 'github' })),
  },
  pkg: { id: packageName, name: packageName, purl: `pkg:apk/${packageName}` },
  fix,
})

const reportOf = (uid: string, scan: Scan) => ({
  id: `${uid}@${scan.date}`,
  vulnerabilityDbLastBuildTime: scan.databaseBuilt,
  vulnerabilityMatches: scan.findings.map(matchOf),
  scanner: { name: SCANNER.name.toLowerCase(), version: SCANNER.version },
  reportGeneration: scan.date,
  rawVulnReport: Buffer.from(rawReportOf(scan)).toString('base64'),
  lastSeen: scan.date,
})

/** The newest report about an image (semantics §9.3). An image that was never scanned has an empty one. */
export const vulnReportOperation: Operation = {
  method: 'GET',
  template: '/registry/v1/repos/{repo_id=**}/digests/{digest}/vulnreport',
  answer: (ask, world) => {
    const repo = uidParam(ask, 'repo_id')
    requireCapability(world, callerOf(ask), ['repo.list', 'vuln_reports.list'], repo)
    const image = world.store.images.get(imageUid(repo, ask.params['digest'] ?? ''))
    const scan = image && scanAt(world, repo, image.digest, world.clock.now().getTime())
    return encode(image && scan ? reportOf(image.uid, scan) : {}, vulnReport, world.options.v1Dialect)
  },
}
