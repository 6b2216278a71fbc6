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

/** The operations below `/registry/v1` that have a v2 counterpart (facts §4). */
export const registryOperations: readonly Operation[] = [
  ...repoOperations,
  ...tagOperations,
  ...imageOperations,
  ...summaryOperations,
  eolTagOperation,
]

/** The operations there that v1 alone serves and real clients use. They serve to try out passing through to a v1 service (facts §22). */
export const v1OnlyOperations: readonly Operation[] = [
  vulnCountsOperation,
  rawVulnReportOperation,
  vulnReportOperation,
  tagHistoryOperation,
  imageConfigOperation,
]
