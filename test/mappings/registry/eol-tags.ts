import { type Transcript, transcript } from '../transcript.ts'

const v2Tag = (name: string) => ({ uid: `org/nginx/${name}`, name, digest: 'sha256:aa', updateTime: '2025-02-01T00:00:00Z' })
const latest = v2Tag('latest')
const coarse = v2Tag('1.27')

const unknowable = { main_package_name: '', main_package_version: null, grace_status: 'GRACE_NOT_ELIGIBLE', grace_period_expiry_date: null }
const active = { id: 'org/nginx/latest', name: 'latest', tag_status: 'TAG_ACTIVE', ...unknowable }
const KINDS = 'include_dates=true&include_epochs=true&include_referrers=false'

export const eolTags: readonly Transcript[] = [
  transcript('registry.eol_tags.list', 'deprecated means inactive; referrers never; what v2 cannot know is unset')
    .sent('GET /registry/v1/eoltags?uidp.children_of=org/nginx')
    .asks(`GET /registry/v2/tags?uidp.children_of=org/nginx&${KINDS}&page_size=200`, { tags: [latest, { ...coarse, deprecated: true }] })
    .answers({ items: [active, { id: 'org/nginx/1.27', name: '1.27', tag_status: 'TAG_INACTIVE', ...unknowable }], next_page_token: '' }),
  transcript(
    'registry.eol_tags.list',
    'a window is followed; an order and a skip, which v1 did not have here, are ignored as v1 ignored them',
  )
    .sent('GET /registry/v1/eoltags?limit=2&offset=1&order_by=name desc&skip=3')
    .asks(`GET /registry/v2/tags?${KINDS}&page_size=2&skip=1`, { tags: [], nextPageToken: '', skipped: 1 })
    .answers({ items: [], next_page_token: '' }),
  transcript('registry.eol_tags.list', 'paged as v1 was, with v2’s tokens')
    .sent('GET /registry/v1/eoltags?name=latest&excludeDates=true&excludeEpochs=true&page_size=1&pageToken=t1')
    .asks('GET /registry/v2/tags?name=latest&include_dates=false&include_epochs=false&include_referrers=false&page_size=1&page_token=t1', {
      tags: [latest],
      nextPageToken: 't2',
    })
    .answers({ items: [active], next_page_token: 't2' }),
]
