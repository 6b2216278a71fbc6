import { extra } from '../../contract/target.ts'
import { items, type Transcript, transcript } from '../transcript.ts'

const v2Latest = { uid: 'org/nginx/t1', name: 'latest', digest: 'sha256:aa', updateTime: '2025-02-03T04:05:06.789Z', bundles: ['b'] }
const latest = (bundles = ['b']) =>
  extra(
    { id: 'org/nginx/t1', name: 'latest', digest: 'sha256:aa', last_updated: v2Latest.updateTime, deprecated: false, bundles },
    { updated_at: v2Latest.updateTime },
  )
const EVERY_KIND = 'include_referrers=true&include_dates=true&include_epochs=true'
const storedTag = `GET /registry/v2/tags?uidp.children_of=org/nginx&name=latest&${EVERY_KIND}&page_size=1`

export const tags: readonly Transcript[] = [
  transcript('registry.tags.list', 'every kind of tag, as v1 showed them: v2 would hide three')
    .sent('GET /registry/v1/tags?uidp.children_of=org/nginx')
    .asks(`GET /registry/v2/tags?uidp.children_of=org/nginx&${EVERY_KIND}&page_size=200`, { tags: [v2Latest] })
    .answers(items(latest())),
  transcript('registry.tags.list', 'exclude turns into include; a time passes as it is')
    .sent(
      'GET /registry/v1/tags?excludeDates=true&exclude_epochs=f&exclude_referrers=true&updatedSince=2025-01-01T00:00:00Z&digest=sha256:aa',
    )
    .asks(
      'GET /registry/v2/tags?digest=sha256:aa&updated_since=2025-01-01T00:00:00Z&include_referrers=false&include_dates=false&include_epochs=true&page_size=200',
      { tags: [] },
    )
    .answers(items()),
  transcript('registry.tags.list', 'filters beside an id are checked here')
    .sent('GET /registry/v1/tags?id=org/nginx/t1&updated_since=2025-03-01T00:00:00Z')
    .asks('GET /registry/v2/tags/org/nginx/t1', v2Latest)
    .answers(items()),
  transcript('registry.tags.create', 'with a digest it is one call')
    .sent('POST /registry/v1/tags/org/nginx', { name: 'latest', digest: 'sha256:aa', last_updated: '2020-01-01T00:00:00Z' })
    .writes('POST /registry/v2/tags/org/nginx', { name: 'latest', digest: 'sha256:aa' }, v2Latest)
    .answers(latest()),
  transcript('registry.tags.create', 'without one the stored digest stays')
    .sent('POST /registry/v1/tags/org/nginx', { name: 'latest', bundles: ['b'] })
    .asks(storedTag, { tags: [v2Latest] })
    .writes('POST /registry/v2/tags/org/nginx', { name: 'latest', digest: 'sha256:aa', bundles: ['b'] }, v2Latest)
    .answers(latest()),
  transcript('registry.tags.create', 'a new tag without a digest is v2’s to refuse')
    .sent('POST /registry/v1/tags/org/nginx', { name: 'latest' })
    .asks(storedTag, { tags: [] })
    .writes('POST /registry/v2/tags/org/nginx', { name: 'latest' }, 'INVALID_ARGUMENT')
    .refuses('INVALID_ARGUMENT'),
  transcript('registry.tags.update', 'read, then created again under its name; the digest stays, the rest is reset')
    .sent('PUT /registry/v1/tags/org/nginx/t1', { name: 'latest' })
    .asks('GET /registry/v2/tags/org/nginx/t1', { ...v2Latest, deprecated: true })
    .writes(
      'POST /registry/v2/tags/org/nginx',
      { name: 'latest', digest: 'sha256:aa', deprecated: false, bundles: [] },
      { ...v2Latest, bundles: [] },
    )
    .answers(latest([])),
  transcript('registry.tags.update', 'a tag cannot be renamed')
    .sent('PUT /registry/v1/tags/org/nginx/t1', { name: 'stable', digest: 'sha256:bb' })
    .asks('GET /registry/v2/tags/org/nginx/t1', v2Latest)
    .finds(['name', 'cannot be changed: v2 has no way to rename a tag; create "stable" and delete this one']),
  transcript('registry.tags.update', 'a missing tag is an error on PUT')
    .sent('PUT /registry/v1/tags/org/nginx/gone', {})
    .asks('GET /registry/v2/tags/org/nginx/gone', 'NOT_FOUND')
    .refuses('NOT_FOUND'),
  transcript('registry.tags.delete', 'gone')
    .sent('DELETE /registry/v1/tags/org/nginx/t1')
    .asks('DELETE /registry/v2/tags/org/nginx/t1', {})
    .answers({}),
]
