import { requireCapability } from '../../auth/rights/authorize.ts'
import { type Ask, callerOf, ok, type Route } from '../../http/route.ts'
import { notFound } from '../../status.ts'
import type { Image } from '../../world/registry-model.ts'
import type { World } from '../../world/world.ts'
import { existing, uidParam } from '../reads.ts'
import { repos } from './repos.ts'

/** The row key of a digest in a repo. */
export const imageUid = (repo: string, digest: string): string => `${repo}@${digest}`

const imageOf = (ask: Ask, world: World): Image => {
  const repo = uidParam(ask, 'repo_uid')
  requireCapability(world, callerOf(ask), ['repo.list', 'manifest.metadata.list'], repo)
  existing(repos, world, repo)
  const digest = ask.params['digest'] ?? ''
  return world.store.images.get(imageUid(repo, digest)) ?? notFound('registry.Image', digest)
}

const architectures = (ask: Ask, world: World) => ok({ architectures: Object.keys(imageOf(ask, world).sizes) })

const size = (ask: Ask, world: World) => {
  const image = imageOf(ask, world)
  const architecture = ask.query.text('architecture') || 'amd64'
  const bytes = Object.hasOwn(image.sizes, architecture) ? image.sizes[architecture] : undefined
  return ok({ size: bytes ?? notFound('registry.Image', `${image.digest} ${architecture}`), architecture })
}

const template = (what: string): string => `/registry/v2/repos/{repo_uid=**}/digests/{digest}/${what}`

/** The data of an image by its digest (semantics §3.12). */
export const imageRoutes: readonly Route[] = [
  { method: 'GET', template: template('architectures'), auth: 'required', handle: architectures },
  { method: 'GET', template: template('size'), auth: 'required', handle: size },
]
