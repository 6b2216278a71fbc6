import { requireCapability } from '../../auth/rights/authorize.ts'
import { callerOf } from '../../http/route.ts'
import { uidParam } from '../../v2/reads.ts'
import { imageUid } from '../../v2/registry/images.ts'
import type { Image, Repo } from '../../world/registry-model.ts'
import { encode } from '../encode.ts'
import { imageConfig } from '../messages/image-config.ts'
import type { Operation } from '../operation.ts'
import { START_CONFIGS } from './image-configs.ts'

const NON_ROOT = '65532'
const PATH = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** Keys without values: the contract's form of a set. */
const keys = (names: readonly string[] = []) => Object.fromEntries(names.map((name) => [name, {}]))

const pairs = (values: Readonly<Record<string, string>> = {}): readonly string[] =>
  Object.entries(values).map(([name, value]) => `${name}=${value}`)

/** The configuration of an image: that of its repo's images, with the additions of the organization (`custom_overlay`). */
const configOf = ({ name, customOverlay }: Repo, { digest }: Image) => {
  const start = START_CONFIGS[name] ?? { entrypoint: [] }
  return {
    user: customOverlay?.accounts?.runAs || NON_ROOT,
    exposedPorts: keys(start.ports),
    env: [PATH, 'SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt', ...(start.env ?? []), ...pairs(customOverlay?.environment)],
    entrypoint: start.entrypoint,
    cmd: start.cmd ?? [],
    volumes: keys(start.volumes),
    workingDir: start.workingDir ?? '',
    labels: {
      'org.opencontainers.image.title': name,
      'org.opencontainers.image.version': digest.slice(7, 19),
      ...customOverlay?.annotations,
    },
    stopSignal: start.stopSignal ?? '',
  }
}

/** The start configuration of a container. A missing image or architecture has an empty one. */
export const imageConfigOperation: Operation = {
  method: 'GET',
  template: '/registry/v1/repos/{repo_id=**}/digests/{digest}/imageconfig',
  answer: (ask, world) => {
    const repoUid = uidParam(ask, 'repo_id')
    requireCapability(world, callerOf(ask), ['repo.list', 'manifest.metadata.list'], repoUid)
    const repo = world.store.repos.get(repoUid)
    const image = world.store.images.get(imageUid(repoUid, ask.params['digest'] ?? ''))
    const known = image !== undefined && Object.hasOwn(image.sizes, ask.query.text('arch') || 'amd64')
    return encode(repo && known ? configOf(repo, image) : {}, imageConfig, world.options.v1Dialect)
  },
}
