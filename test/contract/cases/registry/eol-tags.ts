import * as make from '../../expect.ts'
import { column, items, ok, refused, same, shows, text } from '../../expect.ts'
import type { Case } from '../../target.ts'

const EOL = '/registry/v1/eoltags'

/** semantics §8 */
export const eolTags: readonly Case[] = [
  shows(
    'end-of-life tags: every tag but the referrers, with paging of its own',
    ['registry.eol_tags.list'],
    { roles: ['outsider'] },
    async (api) => {
      const repo = (await make.repo(api, (await make.folder(api)).id, { name: 'cw-eol' })).id
      for (const name of ['a', 'b', 'c', 'd-20260101', `sha256-${'a'.repeat(64)}.sig`]) await make.tag(api, repo, { name })
      const scope = { 'uidp.children_of': repo }
      await api.get(EOL, scope)
      await make.tag(api, repo, { name: 'e-r1' })
      // From here on the rows include a superseded build, whose status v2 does not know (difference eol-approximated).
      const all = await api.unrecorded.get(EOL, scope)
      same(column(all, 'name').map(String).sort(), ['a', 'b', 'c', 'd-20260101', 'e-r1'], 'names')
      same(column(all, 'id'), column(all, 'id').map(String).sort(), 'in order of uid')
      same([...Object.keys(all.body)].sort().length, 2, 'an envelope of two')
      same(items(await api.get(EOL, { ...scope, exclude_dates: true, exclude_epochs: true })).length, 3, 'exclude both')
      same(items(await api.unrecorded.otherwise.get(EOL, { ...scope, exclude_dates: true })).length, 4, 'exclude dates')
      same(column(await api.get(EOL, { ...scope, name: 'b' }), 'name'), ['b'], 'by name')
      same(items(await api.get(EOL, { ...scope, name: `sha256-${'a'.repeat(64)}.sig` })).length, 0, 'a referrer by name')
      const pages: unknown[] = []
      let token = ''
      for (let page = 0; page < 5; page++) {
        const answer = await api.unrecorded.get(EOL, { ...scope, page_size: 2, ...(token && { page_token: token }) })
        pages.push(column(answer, 'id'))
        token = api.member(answer.body, 'next_page_token')
        if (!token) break
      }
      same(pages.flat(), column(all, 'id'), 'the pages together')
      same(pages.length, 3, 'pages')
      ok(api, await api.get(EOL, { ...scope, page_size: 1, name: 'a' }), { items: [{ ...row(text), name: 'a' }], next_page_token: '' })
      same(items(await api.unrecorded.get(EOL, { ...scope, page_size: 1000 })).length, 5, 'a large page')
      ok(api, await api.as('outsider').get(EOL, scope), { items: [], next_page_token: '' })
      refused(await api.as('nobody').get(EOL, scope), 16)
      refused(await api.get(EOL, { ...scope, page_size: -1 }), 3)
      refused(await api.get(EOL, { ...scope, page_size: 'x' }), 3, /^parsing field "page_size": /)
      refused(await api.get(EOL, { ...scope, exclude_epochs: 'x' }), 3, /^parsing field "exclude_epochs": /)
      refused(await api.get(EOL, { ...scope, page_token: 'nonsense' }), 3)
    },
  ),
]

/** A row of a repo without a package, which has no further data. */
const row = (id: unknown) => ({
  id,
  name: '',
  main_package_name: '',
  tag_status: 'TAG_ACTIVE',
  main_package_version: null,
  grace_status: 'GRACE_NOT_ELIGIBLE',
  grace_period_expiry_date: null,
})
