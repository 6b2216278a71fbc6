import type { Dated, Row } from './model.ts'

/** Rows about vulnerabilities, with the conventions of `model.ts`. Only genuine v1 shows the members marked "v1 alone". */

export type Severity = { readonly type: string; readonly score: string }

type Note = { readonly note: string }
type Manual = Readonly<Record<string, never>>
type Nvd = { readonly cpeSearched: string; readonly cpeFound: string }

/** The scanner and the age of its data. */
type ScannerRun = { readonly scannerVersion: string; readonly grypeDbBuilt: string; readonly grypeDbChecksum: string }

type Scan = ScannerRun & {
  readonly scanner: string
  readonly componentId: string
  readonly componentVersion: string
  readonly componentType: string
  readonly componentLocation: string
  readonly artifactVersion: string
}

/** At most one member of a detection is set. */
type Detection<Found> = { readonly nvdapi?: Nvd | undefined; readonly manual?: Manual | undefined; readonly scanv1?: Found | undefined }

/** The determination of an event, in advisories and in the feed alike. At most one member is set. */
type Determination = {
  readonly falsePositiveDetermination?: (Note & { readonly type: string }) | undefined
  readonly analysisNotPlanned?: Note | undefined
  readonly fixNotPlanned?: Note | undefined
  readonly pendingUpstreamFix?: Note | undefined
  readonly truePositiveDetermination?: Note | undefined
}

export type AdvisoryEvent = Determination & {
  /** A uid below that of its advisory. */
  readonly uid: string
  readonly createTime: string
  readonly detection?: Detection<Scan & { readonly subpackage: string; readonly component: string }> | undefined
  readonly fixed?: (Note & ScannerRun & { readonly fixedVersion: string }) | undefined
  readonly patched?: (Note & { readonly patchedVersions: readonly string[] }) | undefined
  /** v1 alone: in v2 such an event has no type (facts §5.2). */
  readonly componentLocationChanged?: (Note & { readonly previousLocation: string; readonly newLocation: string }) | undefined
  /** Base64 of a JSON text. */
  readonly findings: string
  readonly author: string
  readonly reviewer: string
  readonly reviewState: string
  readonly issue: string
}

/** An advisory. Its parent is a group. */
export type Advisory = Row &
  Dated & {
    readonly advisoryId: string
    /** Set on a withdrawn advisory, which no caller sees any more. */
    readonly deleteTime?: string | undefined
    readonly author: string
    readonly artifactName: string
    readonly artifactType: string
    readonly artifactArchitecture: string
    readonly componentName: string
    readonly componentLocation: string
    readonly componentType: string
    readonly aliases: readonly string[]
    /** In order of time, oldest first. */
    readonly events: readonly AdvisoryEvent[]
    readonly legacyAdvisoryId: string
    readonly severities: readonly Severity[]
  }

export type DocumentEvent = Determination & {
  readonly timestamp: string
  readonly detection?: Detection<Scan & { readonly subpackageName: string; readonly componentName: string }> | undefined
  readonly fixed?: (ScannerRun & { readonly fixedVersion: string }) | undefined
}

/** The published advisories of one package. `uid` repeats `id`, the name of the package. */
export type AdvisoryDocument = Row & {
  readonly id: string
  readonly advisories: readonly {
    readonly id: string
    readonly events: readonly DocumentEvent[]
    readonly aliases: readonly string[]
    readonly packageNamespace: string
  }[]
}

/** The data of one vulnerability. `uid` repeats `id`, e.g. `CVE-2026-10001`. */
export type VulnerabilityMetadata = Row & {
  readonly id: string
  readonly summary: string
  readonly details: string
  readonly references: readonly { readonly type: string; readonly url: string }[]
  readonly severities: readonly Severity[]
}
