import { visible } from '../../../auth/rights/authorize.ts'
import { callerOf } from '../../../http/route.ts'
import { rawReportOf, SCANNER, scanAt } from '../../../scans/scans.ts'
import { invalidField, notFound } from '../../../status.ts'
import { encode } from '../../encode.ts'
import { rawVulnReport, scannerName } from '../../messages/vuln-reports.ts'
import type { Operation } from '../../operation.ts'
import { v1Names } from '../../vocabulary.ts'

/** The repo part of an image's key. */
const repoOf = (imageKey: string): string => imageKey.slice(0, imageKey.indexOf('@'))

/** The report of one image in the scanner's own format. NOT_FOUND without one, which clients read as "not scanned" (semantics §9.3). */
export const rawVulnReportOperation: Operation = {
  method: 'GET',
  template: '/registry/v1/vuln_reports/raw',
  answer: (ask, world) => {
    const { query } = ask
    const digest = query.text('digest') || invalidField('digest', 'is required')
    const scanner = query.choice('scanner', v1Names(scannerName))
    const at = query.time('created_at') ?? world.clock.now().getTime()
    const inReach = visible(world, callerOf(ask), 'vuln_report.list')
    const image = world.store.images.values().find((row) => row.digest === digest && inReach(repoOf(row.uid)))
    const scan = image && scanner !== 'TRIVY' ? scanAt(world, repoOf(image.uid), digest, at) : undefined
    if (!scan) return notFound('registry.VulnReport', digest)
    const by = { ...SCANNER, dbBuildTime: scan.databaseBuilt }
    return encode({ digest, scanner: by, createdAt: scan.date, rawReport: rawReportOf(scan) }, rawVulnReport, world.options.v1Dialect)
  },
}
