import { notAnswer } from '../../src/errors.ts'
import {
  asText,
  choice,
  type Enrich,
  gone,
  identical,
  list,
  made,
  message,
  type Operation,
  object,
  readOnly,
  resource,
  scope,
  text,
  time,
  typed,
} from '../../src/tables/language.ts'
import { packageVersion } from './package-version.ts'
import { shownKinds, tag } from './tags.ts'

// facts §4.4
const UNKNOWABLE = 'v2 has no package and no end-of-life data'
const tagStatus = identical('EolTagStatus', ['TAG_ACTIVE', 'TAG_IN_GRACE', 'TAG_INACTIVE'])
const graceStatus = identical('EolGracePeriodStatus', [
  'GRACE_NOT_ELIGIBLE',
  'GRACE_ELIGIBLE',
  'GRACE_ACTIVE',
  'GRACE_BROKEN',
  'GRACE_EXPIRED',
])

/** v1's end-of-life view of a tag. Members that v2 cannot know are unset. */
const eolTag = resource('end-of-life tag', {
  v2: tag.v2,
  plural: tag.plural,
  fields: {
    id: readOnly('uid'),
    name: text('name'),
    main_package_name: gone(text, UNKNOWABLE),
    tag_status: made('TAG_INACTIVE if deprecated is true, otherwise TAG_ACTIVE', choice('status', tagStatus)),
    main_package_version: gone((source) => object(source, packageVersion.fields), UNKNOWABLE),
    grace_status: gone((source) => choice(source, graceStatus), UNKNOWABLE),
    grace_period_expiry_date: gone(time, UNKNOWABLE),
  },
})

/** `deprecated` is computed from and not shown. */
const wellTyped = typed(tag)

const { exclude_dates, exclude_epochs } = shownKinds

export const eolTagOperations: readonly Operation[] = [
  list('registry.eol_tags.list', 'GET /registry/v1/eoltags', eolTag, {
    emulated: 'v2 says only whether a tag is deprecated: status is TAG_ACTIVE or TAG_INACTIVE; package, grace and expiry stay unset',
    query: { ...scope, name: 'name', exclude_dates, exclude_epochs },
    more: { params: [], query: () => [['include_referrers', 'false']] },
    longPages: true,
    envelope: message('end-of-life tags', { next_page_token: text('nextPageToken') }),
    enrich: withStatus,
  }),
]

/**
 * `deprecated` marks an end-of-life tag (specification §2); nothing marks a tag in its grace period.
 * A referrer is no image, and v2 finds one by its exact name even if asked to hide referrers.
 */
function* withStatus(...[rows]: Parameters<Enrich>): ReturnType<Enrich> {
  if (!rows.every(wellTyped.isAnswer)) throw notAnswer({ rows })
  return rows
    .filter(({ name }) => !asText(name).startsWith('sha256-'))
    .map((row) => ({ ...row, status: row.deprecated === true ? 'TAG_INACTIVE' : 'TAG_ACTIVE' }))
}
