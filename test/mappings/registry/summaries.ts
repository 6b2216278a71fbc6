import { type Transcript, transcript } from '../transcript.ts'

const v2Tag = (name: string, digest: string, updateTime: string) => ({ uid: `org/nginx/${name}`, name, digest, updateTime })
const latest = v2Tag('latest', 'sha256:aa', '2025-02-01T00:00:00Z')
const exact = v2Tag('1.27.3', 'sha256:aa', '2025-02-02T00:00:00Z')
const coarse = v2Tag('1.27', 'sha256:aa', '2025-02-01T00:00:00Z')
const longerOther = v2Tag('1.26.9-lts', 'sha256:bb', '2025-01-01T00:00:00Z')

const EVERY_KIND = 'include_referrers=true&include_dates=true&include_epochs=true'
const NO_KIND = EVERY_KIND.replaceAll('true', 'false')

export const summaries: readonly Transcript[] = [
  transcript('registry.repo_tags_summary.get', 'counted; the version is the longest name of the same image')
    .sent('GET /registry/v1/repotagssummary/org/nginx')
    .asks(`GET /registry/v2/tags?uidp.children_of=org/nginx&${EVERY_KIND}&page_size=200`, {
      tags: [longerOther, coarse],
      nextPageToken: 'more',
    })
    .asks(`GET /registry/v2/tags?uidp.children_of=org/nginx&${EVERY_KIND}&page_size=200&page_token=more`, {
      tags: [exact, latest].map((tag) => ({ ...tag, uid: `org/nginx/z${tag.name}` })),
    })
    .answers({
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
    }),
  transcript('registry.repo_tags_summary.get', 'a repo without tags, or without itself')
    .sent('GET /registry/v1/repotagssummary/gone?exclude_dates=true&exclude_epochs=true&exclude_referrers=true')
    .asks(`GET /registry/v2/tags?uidp.children_of=gone&${NO_KIND}&page_size=200`, { tags: [] })
    .answers({ id: 'gone', tag_count: '0', last_updated: null, latest_tag: null, latest_version: '' }),
  transcript('registry.repo_tags_summary.get', 'a uid is opaque, and no path in a query')
    .sent('GET /registry/v1/repotagssummary/my org/a:2')
    .asks(`GET /registry/v2/tags?uidp.children_of=my org/a:2&${EVERY_KIND}&page_size=200`, { tags: [] })
    .answers({ id: 'my org/a:2', tag_count: '0', last_updated: null, latest_tag: null, latest_version: '' }),
  transcript('registry.repo_count_by_source.get', 'a uid is opaque, and as v2 shows it')
    .sent('GET /registry/v1/repocountbysource/my org/a:2')
    .asks('GET /registry/v2/repos?page_size=200', { repos: [{ uid: 'a/1', sync_config: { source: 'my org/a:2' } }] })
    .answers({ count: '1' }),
  transcript('registry.repo_count_by_source.get', 'the repos that can be seen are counted')
    .sent('GET /registry/v1/repocountbysource/org/base')
    .asks('GET /registry/v2/repos?page_size=200', {
      repos: [
        { uid: 'a/1', sync_config: { source: 'org/base' } },
        { uid: 'a/2', sync_config: { source: 'org/other' } },
        { uid: 'a/3', sync_config: null },
        { uid: 'b/1', sync_config: { source: 'org/base' } },
      ],
    })
    .answers({ count: '2' }),
]
