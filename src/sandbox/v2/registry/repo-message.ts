import { choice, flag, listOf, type Message, nested, outputText, outputTime, text, time } from '../../messages/message.ts'
import { among, descriptionRule, each, matching, nameRule } from '../../messages/validate.ts'
import { customOverlayMessage } from './overlay-message.ts'

export const CATALOG_TIERS: readonly string[] = [
  'CATALOG_TIER_UNSPECIFIED',
  'CATALOG_TIER_APPLICATION',
  'CATALOG_TIER_BASE',
  'CATALOG_TIER_FIPS',
  'CATALOG_TIER_AI',
  'CATALOG_TIER_DEVTOOLS',
  'CATALOG_TIER_COMMERCIAL',
]

const BUNDLES = ['application', 'base', 'byol', 'ai', 'ai-gpu', 'featured', 'fips', 'commercial', 'emeritoss']

/** The bundle names a repo or a tag may carry (semantics §3.0). */
export const bundles = listOf(text(), { check: each(among('bundle', BUNDLES)) })

/** An alias names a repo path and a tag: `python:latest`, `chainguard/python:3.12`. */
const ALIAS = /^[a-zA-Z0-9_.\-/]*[a-zA-Z0-9_.-]:[a-zA-Z0-9_.-]+$/

/** The members that only the service and its staff set are not output-only: a different value is refused, not ignored (see `sync.ts`). */
const syncConfigMessage: Message = {
  name: 'chainguard.platform.registry.v2.SyncConfig',
  fields: {
    source: text({ required: true }),
    uniqueTags: flag(),
    expirationTime: time(),
    google: text(),
    amazon: text(),
    azure: text(),
    apkoOverlay: text(),
    gracePeriod: flag(),
  },
}

export const repoMessage: Message = {
  name: 'chainguard.platform.registry.v2.Repo',
  fields: {
    uid: outputText,
    name: text({ required: true, check: nameRule }),
    description: text({ check: descriptionRule }),
    catalogTier: choice(CATALOG_TIERS),
    bundles,
    aliases: listOf(text(), { check: each(matching('alias', ALIAS)) }),
    activeTags: listOf(text()),
    sync_config: nested(syncConfigMessage),
    customOverlay: nested(customOverlayMessage),
    createTime: outputTime,
    updateTime: outputTime,
  },
}
