import type { Transcript } from '../transcript.ts'

const v2Tag = (name: string, digest: string, updateTime: string) => ({ uid: `org/nginx/${name}`, name, digest, updateTime })
const latest = v2Tag('latest', 'sha256:aa', '2025-02-01T00:00:00Z')
const exact = v2Tag('1.27.3', 'sha256:aa', '2025-02-02T00:00:00Z')
const coarse = v2Tag('1.27', 'sha256:aa', '2025-02-01T00:00:00Z')
const longerOther = v2Tag('1.26.9-lts', 'sha256:bb', '2025-01-01T00:00:00Z')

const unknowable = { main_package_name: '', main_package_version: null, grace_status: 'GRACE_NOT_ELIGIBLE', grace_period_expiry_date: null }
const publishedUnknowable = {
  mainPackageName: '',
  mainPackageVersion: null,
  graceStatus: 'GRACE_NOT_ELIGIBLE',
  gracePeriodExpiryDate: null,
}
const KINDS = 'include_dates=true&include_epochs=true&include_referrers=false'
const EVERY_KIND = 'include_referrers=true&include_dates=true&include_epochs=true'

export const emulated: readonly Transcript[] = [
  {
    title: 'deprecated means inactive; referrers never; what v2 cannot know is unset',
    operation: 'registry.eol_tags.list',
    request: 'GET /registry/v1/eoltags?uidp.children_of=org/nginx',
    calls: [
      {
        call: `GET /registry/v2/tags?uidp.children_of=org/nginx&${KINDS}&page_size=200`,
        answer: { tags: [latest, { ...coarse, deprecated: true }] },
      },
    ],
    reply: {
      items: [
        { id: 'org/nginx/latest', name: 'latest', tag_status: 'TAG_ACTIVE', ...unknowable },
        { id: 'org/nginx/1.27', name: '1.27', tag_status: 'TAG_INACTIVE', ...unknowable },
      ],
      next_page_token: '',
    },
    published: {
      items: [
        { id: 'org/nginx/latest', name: 'latest', tagStatus: 'TAG_ACTIVE', ...publishedUnknowable },
        { id: 'org/nginx/1.27', name: '1.27', tagStatus: 'TAG_INACTIVE', ...publishedUnknowable },
      ],
      nextPageToken: '',
    },
  },
  {
    title: 'paged as v1 was, with v2’s tokens',
    operation: 'registry.eol_tags.list',
    request: 'GET /registry/v1/eoltags?name=latest&excludeDates=true&page_size=1&pageToken=t1',
    calls: [
      {
        call: 'GET /registry/v2/tags?name=latest&include_dates=false&include_epochs=true&include_referrers=false&page_size=1&page_token=t1',
        answer: { tags: [latest], nextPageToken: 't2' },
      },
    ],
    reply: { items: [{ id: 'org/nginx/latest', name: 'latest', tag_status: 'TAG_ACTIVE', ...unknowable }], next_page_token: 't2' },
    published: {
      items: [{ id: 'org/nginx/latest', name: 'latest', tagStatus: 'TAG_ACTIVE', ...publishedUnknowable }],
      nextPageToken: 't2',
    },
  },
  {
    title: 'counted; the version is the longest name of the same image',
    operation: 'registry.repo_tags_summary.get',
    request: 'GET /registry/v1/repotagssummary/org/nginx',
    calls: [
      {
        call: `GET /registry/v2/tags?uidp.children_of=org/nginx&${EVERY_KIND}&page_size=200`,
        answer: { tags: [longerOther, coarse], nextPageToken: 'more' },
      },
      {
        call: `GET /registry/v2/tags?uidp.children_of=org/nginx&${EVERY_KIND}&page_size=200&page_token=more`,
        answer: { tags: [exact, latest].map((tag) => ({ ...tag, uid: `org/nginx/z${tag.name}` })) },
      },
    ],
    reply: {
      id: 'org/nginx',
      tag_count: '4',
      last_updated: '2025-02-02T00:00:00Z',
      latest_tag: {
        id: 'org/nginx/zlatest',
        name: 'latest',
        digest: 'sha256:aa',
        last_updated: '2025-02-01T00:00:00Z',
        deprecated: false,
        bundles: [],
      },
      latest_version: '1.27.3',
    },
    published: {
      id: 'org/nginx',
      tagCount: '4',
      lastUpdated: '2025-02-02T00:00:00Z',
      latestTag: {
        id: 'org/nginx/zlatest',
        name: 'latest',
        digest: 'sha256:aa',
        lastUpdated: '2025-02-01T00:00:00Z',
        deprecated: false,
        bundles: [],
      },
      latestVersion: '1.27.3',
    },
  },
  {
    title: 'a repo without tags, or without itself',
    operation: 'registry.repo_tags_summary.get',
    request: 'GET /registry/v1/repotagssummary/gone',
    calls: [{ call: `GET /registry/v2/tags?uidp.children_of=gone&${EVERY_KIND}&page_size=200`, answer: { tags: [] } }],
    reply: { id: 'gone', tag_count: '0', last_updated: null, latest_tag: null, latest_version: '' },
    published: { id: 'gone', tagCount: '0', lastUpdated: null, latestTag: null, latestVersion: '' },
  },
  {
    title: 'the repos that can be seen are counted',
    operation: 'registry.repo_count_by_source.get',
    request: 'GET /registry/v1/repocountbysource/org/base',
    calls: [
      {
        call: 'GET /registry/v2/repos?page_size=200',
        answer: {
          repos: [
            { uid: 'a/1', sync_config: { source: 'org/base' } },
            { uid: 'a/2', sync_config: { source: 'org/other' } },
            { uid: 'a/3', sync_config: null },
            { uid: 'b/1', sync_config: { source: 'org/base' } },
          ],
        },
      },
    ],
    reply: { count: '2' },
  },
]
