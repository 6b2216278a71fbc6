import { failure, items, type Transcript } from '../transcript.ts'

const v2Latest = { uid: 'org/nginx/t1', name: 'latest', digest: 'sha256:aa', updateTime: '2025-02-03T04:05:06.789Z', bundles: ['b'] }
const latest = {
  id: 'org/nginx/t1',
  name: 'latest',
  digest: 'sha256:aa',
  last_updated: '2025-02-03T04:05:06.789Z',
  deprecated: false,
  bundles: ['b'],
}
const stamps = { updated_at: '2025-02-03T04:05:06.789Z' }
const publishedLatest = {
  id: 'org/nginx/t1',
  name: 'latest',
  digest: 'sha256:aa',
  lastUpdated: '2025-02-03T04:05:06.789Z',
  deprecated: false,
  bundles: ['b'],
}
const EVERY_KIND = 'include_referrers=true&include_dates=true&include_epochs=true'
const storedTag = `GET /registry/v2/tags?uidp.children_of=org/nginx&name=latest&${EVERY_KIND}&page_size=1`
const cannotRename = 'cannot be changed: v2 has no way to rename a tag; create "stable" and delete this one'

export const tags: readonly Transcript[] = [
  {
    title: 'every kind of tag, as v1 showed them: v2 would hide three',
    operation: 'registry.tags.list',
    request: 'GET /registry/v1/tags?uidp.children_of=org/nginx',
    calls: [{ call: `GET /registry/v2/tags?uidp.children_of=org/nginx&${EVERY_KIND}&page_size=200`, answer: { tags: [v2Latest] } }],
    reply: items({ ...latest, ...stamps }),
    published: items(publishedLatest),
  },
  {
    title: 'exclude turns into include; a time passes as it is',
    operation: 'registry.tags.list',
    request:
      'GET /registry/v1/tags?excludeDates=true&exclude_epochs=f&exclude_referrers=true&updatedSince=2025-01-01T00:00:00Z&digest=sha256:aa',
    calls: [
      {
        call: 'GET /registry/v2/tags?digest=sha256:aa&updated_since=2025-01-01T00:00:00Z&include_referrers=false&include_dates=false&include_epochs=true&page_size=200',
        answer: { tags: [] },
      },
    ],
    reply: items(),
  },
  {
    title: 'filters beside an id are checked here',
    operation: 'registry.tags.list',
    request: 'GET /registry/v1/tags?id=org/nginx/t1&updated_since=2025-03-01T00:00:00Z',
    calls: [{ call: 'GET /registry/v2/tags/org/nginx/t1', answer: v2Latest }],
    reply: items(),
  },
  {
    title: 'with a digest it is one call',
    operation: 'registry.tags.create',
    request: 'POST /registry/v1/tags/org/nginx',
    body: { name: 'latest', digest: 'sha256:aa', last_updated: '2020-01-01T00:00:00Z' },
    calls: [{ call: 'POST /registry/v2/tags/org/nginx', body: { name: 'latest', digest: 'sha256:aa' }, answer: v2Latest }],
    reply: { ...latest, ...stamps },
    published: publishedLatest,
  },
  {
    title: 'without one the stored digest stays',
    operation: 'registry.tags.create',
    request: 'POST /registry/v1/tags/org/nginx',
    body: { name: 'latest', bundles: ['b'] },
    calls: [
      { call: storedTag, answer: { tags: [v2Latest] } },
      { call: 'POST /registry/v2/tags/org/nginx', body: { name: 'latest', digest: 'sha256:aa', bundles: ['b'] }, answer: v2Latest },
    ],
    reply: { ...latest, ...stamps },
    published: publishedLatest,
  },
  {
    title: 'a new tag without a digest is v2’s to refuse',
    operation: 'registry.tags.create',
    request: 'POST /registry/v1/tags/org/nginx',
    body: { name: 'latest' },
    calls: [
      { call: storedTag, answer: { tags: [] } },
      { call: 'POST /registry/v2/tags/org/nginx', body: { name: 'latest' }, answer: 'INVALID_ARGUMENT' },
    ],
    status: 400,
    reply: failure('INVALID_ARGUMENT'),
  },
  {
    title: 'read, then created again under its name; the digest stays, the rest is reset',
    operation: 'registry.tags.update',
    request: 'PUT /registry/v1/tags/org/nginx/t1',
    body: { name: 'latest' },
    calls: [
      { call: 'GET /registry/v2/tags/org/nginx/t1', answer: { ...v2Latest, deprecated: true } },
      {
        call: 'POST /registry/v2/tags/org/nginx',
        body: { name: 'latest', digest: 'sha256:aa', deprecated: false, bundles: [] },
        answer: { ...v2Latest, bundles: [] },
      },
    ],
    reply: { ...latest, bundles: [], ...stamps },
    published: { ...publishedLatest, bundles: [] },
  },
  {
    title: 'a tag cannot be renamed',
    operation: 'registry.tags.update',
    request: 'PUT /registry/v1/tags/org/nginx/t1',
    body: { name: 'stable', digest: 'sha256:bb' },
    calls: [{ call: 'GET /registry/v2/tags/org/nginx/t1', answer: v2Latest }],
    status: 400,
    reply: failure('INVALID_ARGUMENT', `Invalid argument: name: ${cannotRename}`, [
      { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: [{ field: 'name', description: cannotRename }] },
    ]),
  },
  {
    title: 'a missing tag is an error on PUT',
    operation: 'registry.tags.update',
    request: 'PUT /registry/v1/tags/org/nginx/gone',
    body: {},
    calls: [{ call: 'GET /registry/v2/tags/org/nginx/gone', answer: 'NOT_FOUND' }],
    status: 404,
    reply: failure('NOT_FOUND'),
  },
  {
    title: 'gone',
    operation: 'registry.tags.delete',
    request: 'DELETE /registry/v1/tags/org/nginx/t1',
    calls: [{ call: 'DELETE /registry/v2/tags/org/nginx/t1', answer: {} }],
    reply: {},
  },
]
