import type { Dated, Row } from './model.ts'

export type SyncConfig = {
  /** A repo uid, whichever spelling the client used. */
  readonly source: string
  readonly uniqueTags: boolean
  readonly expirationTime?: string | undefined
  readonly google: string
  readonly amazon: string
  readonly azure: string
  readonly apkoOverlay: string
  readonly gracePeriod: boolean
}

export type NamedContent = { readonly name: string; readonly content: string }

export type CustomOverlay = {
  readonly contents?:
    | {
        readonly packages: readonly string[]
        readonly runtimeRepositories: readonly string[]
        readonly runtimeKeyring: readonly NamedContent[]
      }
    | undefined
  readonly environment: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  readonly accounts?: OverlayAccounts | undefined
  readonly certificates?: { readonly additional: readonly NamedContent[]; readonly providers: readonly string[] } | undefined
}

export type OverlayAccounts = {
  readonly runAs: string
  readonly users: readonly {
    readonly username: string
    readonly uid: number
    readonly gid: number
    readonly groupName: string
    readonly shell: string
    readonly homeDir: string
  }[]
  readonly groups: readonly { readonly groupname: string; readonly gid: number; readonly members: readonly string[] }[]
}

export type Repo = Row &
  Dated & {
    readonly name: string
    readonly description: string
    readonly catalogTier: string
    readonly bundles: readonly string[]
    readonly aliases: readonly string[]
    readonly activeTags: readonly string[]
    readonly sync_config?: SyncConfig | undefined
    readonly customOverlay?: CustomOverlay | undefined
  }

/** Keyed by the repo's uid. A repo without a row has an empty readme. */
export type Readme = Row & { readonly content: string }

/** A tag has no create time (facts §4.2). Its parent is its repo. */
export type Tag = Row & {
  readonly updateTime: string
  readonly name: string
  readonly digest: string
  readonly deprecated: boolean
  readonly bundles: readonly string[]
  /** Never rendered with the tag: its earlier targets, oldest first. */
  readonly history?: readonly TagPoint[] | undefined
}

/** A digest that a tag pointed to, and the time from which it did. */
export type TagPoint = { readonly digest: string; readonly updateTime: string }

/** One digest of a repo. `uid` is `<repo uid>@<digest>`; `sizes` is bytes by architecture (layers and config). */
export type Image = Row & { readonly digest: string; readonly sizes: Readonly<Record<string, string>> }
