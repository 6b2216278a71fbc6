import { type Transcript, transcript } from '../transcript.ts'

export const images: readonly Transcript[] = [
  transcript('registry.images.architectures', 'architectures of a digest, colons and all')
    .sent('GET /registry/v1/repos/org/nginx/digests/sha256:aa/architectures')
    .asks('GET /registry/v2/repos/org/nginx/digests/sha256:aa/architectures', { architectures: ['amd64', 'arm64'] })
    .answers({ archs: ['amd64', 'arm64'] }),
  transcript('registry.images.architectures', 'nothing there is the empty message')
    .sent('GET /registry/v1/repos/org/nginx/digests/sha256:bb/architectures')
    .asks('GET /registry/v2/repos/org/nginx/digests/sha256:bb/architectures', 'NOT_FOUND')
    .answers({ archs: [] }),
  transcript('registry.images.size', 'a size is 64-bit text')
    .sent('GET /registry/v1/repos/org/nginx/digests/sha256:aa/size?arch=arm64')
    .asks('GET /registry/v2/repos/org/nginx/digests/sha256:aa/size?architecture=arm64', { size: '9007199254740993', architecture: 'arm64' })
    .answers({ size: '9007199254740993', arch: 'arm64' }),
  transcript('registry.images.size', 'one architecture at a time')
    .sent('GET /registry/v1/repos/org/nginx/digests/sha256:aa/size?arch=arm64&arch=amd64')
    .refuses('INVALID_ARGUMENT', 'too many values for field "arch": arm64, amd64'),
]
