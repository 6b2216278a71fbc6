import { failure, type Transcript } from '../transcript.ts'

export const images: readonly Transcript[] = [
  {
    title: 'architectures of a digest, colons and all',
    operation: 'registry.images.architectures',
    request: 'GET /registry/v1/repos/org/nginx/digests/sha256:aa/architectures',
    calls: [{ call: 'GET /registry/v2/repos/org/nginx/digests/sha256:aa/architectures', answer: { architectures: ['amd64', 'arm64'] } }],
    reply: { archs: ['amd64', 'arm64'] },
  },
  {
    title: 'nothing there is the empty message',
    operation: 'registry.images.architectures',
    request: 'GET /registry/v1/repos/org/nginx/digests/sha256:bb/architectures',
    calls: [{ call: 'GET /registry/v2/repos/org/nginx/digests/sha256:bb/architectures', answer: 'NOT_FOUND' }],
    reply: { archs: [] },
  },
  {
    title: 'a size is 64-bit text',
    operation: 'registry.images.size',
    request: 'GET /registry/v1/repos/org/nginx/digests/sha256:aa/size?arch=arm64',
    calls: [
      {
        call: 'GET /registry/v2/repos/org/nginx/digests/sha256:aa/size?architecture=arm64',
        answer: { size: '9007199254740993', architecture: 'arm64' },
      },
    ],
    reply: { size: '9007199254740993', arch: 'arm64' },
  },
  {
    title: 'one architecture at a time',
    operation: 'registry.images.size',
    request: 'GET /registry/v1/repos/org/nginx/digests/sha256:aa/size?arch=arm64&arch=amd64',
    calls: [],
    status: 400,
    reply: failure('INVALID_ARGUMENT', 'too many values for field "arch": arm64, amd64'),
  },
]
