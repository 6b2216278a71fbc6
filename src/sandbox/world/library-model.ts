import type { Dated, Row } from './model.ts'

/** Rows of the libraries domain, with the conventions of `model.ts`. Uids are ids of the ecosystem: `python:requests`. */

export type Artifact = Row &
  Dated & {
    readonly name: string
    readonly description: string
    readonly ecosystem: string
    readonly latestVersion: string
    readonly versionCount: number
    /** Never rendered: the CUDA versions it is built for. */
    readonly cudaVersions?: readonly string[] | undefined
  }

/** The origin of a version, by number: built from source, built with backported fixes, or taken over unchanged. */
export const SOURCE_TYPES = [
  'SOURCE_TYPE_UNSPECIFIED',
  'SOURCE_TYPE_INTERNAL',
  'SOURCE_TYPE_INTERNAL_REMEDIATED',
  'SOURCE_TYPE_UPSTREAM_REGISTRY',
] as const

export type SourceType = (typeof SOURCE_TYPES)[number]

/** Its uid is `<artifact>:<version>:<source>`. */
export type ArtifactVersion = Row &
  Dated & {
    readonly name: string
    readonly version: string
    readonly description: string
    /** An int64 as a string. */
    readonly sizeBytes: string
    /** Never rendered: the uid of its artifact. */
    readonly artifactUid: string
    /** Only genuine v1 shows the members below. v2 omits upstream versions; so does v1 unless asked for them. */
    readonly sourceType: SourceType
    readonly malwareScanned: boolean
    readonly malwareMalicious: boolean
    readonly upstreamPublishedDate?: string | undefined
  }
