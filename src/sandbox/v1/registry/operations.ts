import type { Operation } from '../operation.ts'
import { eolTagOperation } from './eol-tags.ts'
import { imageConfigOperation } from './image-config.ts'
import { imageOperations } from './images.ts'
import { repoOperations } from './repos.ts'
import { summaryOperations } from './summaries.ts'
import { tagHistoryOperation } from './tag-history.ts'
import { tagOperations } from './tags.ts'
import { vulnCountsOperation } from './vuln-reports/counts.ts'
import { rawVulnReportOperation } from './vuln-reports/raw.ts'
import { vulnReportOperation } from './vuln-reports/report.ts'

/** What v1 serves below `/registry/v1` of the operations that have a v2 counterpart (facts §4). */
export const registryOperations: readonly Operation[] = [
  ...repoOperations,
  ...tagOperations,
  ...imageOperations,
  ...summaryOperations,
  eolTagOperation,
]

/** What v1 alone serves there and real clients ask for; passing through to a v1 service can be tried on these (facts §22). */
export const v1OnlyOperations: readonly Operation[] = [
  vulnCountsOperation,
  rawVulnReportOperation,
  vulnReportOperation,
  tagHistoryOperation,
  imageConfigOperation,
]
