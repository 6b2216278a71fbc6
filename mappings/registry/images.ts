import { action, long, message, type Operation, text, texts } from '../../src/tables/language.ts'

const architectures = message('architectures', { archs: texts('architectures') })
const size = message('image size', { size: long('size'), arch: text('architecture') })

export const imageOperations: readonly Operation[] = [
  action('registry.images.architectures', 'GET /registry/v1/repos/{repo_id=**}/digests/{digest}/architectures', {
    v2: 'GET /registry/v2/repos/{repo_id}/digests/{digest}/architectures',
    answer: architectures,
    missing: 'empty',
  }),
  action('registry.images.size', 'GET /registry/v1/repos/{repo_id=**}/digests/{digest}/size', {
    v2: 'GET /registry/v2/repos/{repo_id}/digests/{digest}/size',
    params: { arch: 'architecture' },
    answer: size,
    missing: 'empty',
  }),
]
