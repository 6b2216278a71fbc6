import { requireCapability } from '../../auth/rights/authorize.ts'
import { type Ask, callerOf } from '../../http/route.ts'
import { uidParam } from '../../v2/reads.ts'
import { imageUid } from '../../v2/registry/images.ts'
import type { World } from '../../world/world.ts'
import { encode } from '../encode.ts'
import { archs, size } from '../messages/tags.ts'
import type { Operation } from '../operation.ts'

/** Bytes by architecture of the image in the path. A missing image is empty: v1 answers it like an image without any. */
function sizesOf(ask: Ask, world: World): Readonly<Record<string, string>> {
  const repo = uidParam(ask, 'repo_id')
  requireCapability(world, callerOf(ask), ['repo.list', 'manifest.metadata.list'], repo)
  return world.store.images.get(imageUid(repo, ask.params['digest'] ?? ''))?.sizes ?? {}
}

const template = (what: string): string => `/registry/v1/repos/{repo_id=**}/digests/{digest}/${what}`

/** The data of an image by its digest (facts §4.3). */
export const imageOperations: readonly Operation[] = [
  {
    method: 'GET',
    template: template('architectures'),
    answer: (ask, world) => encode({ architectures: Object.keys(sizesOf(ask, world)) }, archs, world.options.v1Dialect),
  },
  {
    method: 'GET',
    template: template('size'),
    answer: (ask, world) => {
      const architecture = ask.query.text('arch') || 'amd64'
      const sizes = sizesOf(ask, world)
      const known = Object.hasOwn(sizes, architecture) ? { size: sizes[architecture], architecture } : {}
      return encode(known, size, world.options.v1Dialect)
    },
  },
]
