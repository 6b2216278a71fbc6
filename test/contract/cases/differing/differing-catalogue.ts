import { anything, column, inFolder, items, like, ok, refused, refusedHere, same, shows, text, time } from '../../expect.ts'
import * as shape from '../../shapes.ts'
import type { Answer, Api, Case } from '../../target.ts'

const ADVISORIES = '/vulnerabilities/v1/advisories'
const ARTIFACTS = '/libraries/v1/artifacts'

type Body = Answer['body']

const allOf = async (api: Api): Promise<Body[]> =>
  items(await api.get(ADVISORIES, { 'uidp.descendants_of': api.organization, page_size: 200 }))

/** Advisories, libraries and events of which v2 knows less than v1 did. */
export const differingCatalogue: readonly Case[] = [
  shows(
    'an event that moved a component has no type any more',
    ['vulnerabilities.advisories.list', 'vulnerabilities.advisory_events.list'],
    { difference: 'advisory-moves-lost', reads: true },
    async (api) => {
      const types = (event: Body) => Object.keys(event).filter((name) => typeof event[name] === 'object' && event[name] !== null)
      const rows = await allOf(api)
      const untyped = rows.flatMap((row) => api.member(row, 'events') as Body[]).filter((event) => types(event).length === 0)
      same(untyped.length > 0, api.here({ genuine: false, proxied: true }), 'events without a type')
      const filter = { event_types: 'EVENT_TYPE_FILTER_COMPONENT_LOCATION_CHANGED' }
      const asked = await api.get(ADVISORIES, filter)
      if (api.side === 'genuine') same(items(asked).length > 0, true, 'moved components')
      else refused(asked, 3, /^parsing field "event_types": /)
      const last = await api.get(ADVISORIES, { latest_event_type: 'EVENT_TYPE_FILTER_COMPONENT_LOCATION_CHANGED' })
      refusedHere(api, last, anything, 3, /^parsing field "latest_event_type": /)
      for (const row of rows) await api.get(`${ADVISORIES}/${row.id}/events`)
    },
  ),
  shows(
    'ecosystems that v2 does not have',
    ['libraries.artifacts.list', 'libraries.artifacts.count'],
    { difference: 'ecosystems-gone', reads: true },
    async (api) => {
      for (const ecosystem of ['JAVASCRIPT', 'JAVA_ATHENA', 'DOTNET', 'GO', 7]) {
        for (const path of [ARTIFACTS, `${ARTIFACTS}/count`]) {
          const asked = await api.get(path, { ecosystems: ecosystem })
          refusedHere(api, asked, anything, 3, /^parsing field "ecosystems": /)
        }
      }
    },
  ),
  shows(
    'packages of upstream registries',
    ['libraries.artifacts.list', 'libraries.artifacts.list_versions'],
    { difference: 'upstream-gone', reads: true },
    async (api) => {
      const [{ id }] = items(await api.get(ARTIFACTS, { page_size: 1 }))
      for (const path of [ARTIFACTS, `${ARTIFACTS}/${encodeURIComponent(id)}/versions`]) {
        const asked = await api.get(path, { include_upstream: true })
        refusedHere(api, asked, anything, 3, /^Invalid argument: include_upstream: /)
      }
    },
  ),
  shows(
    'where a version comes from',
    ['libraries.artifacts.list_versions'],
    { difference: 'version-origin-lost', reads: true },
    async (api) => {
      const known = (genuine: unknown, proxied: unknown) => api.here({ genuine, proxied })
      const version = {
        id: text,
        name: text,
        version: text,
        description: anything,
        created_at: time,
        updated_at: time,
        size_bytes: like(/^\d+$/),
        source_type: known(like(/^SOURCE_TYPE_INTERNAL/), 'SOURCE_TYPE_UNSPECIFIED'),
        malware_scanned: known(anything, false),
        malware_malicious: known(anything, false),
        upstream_published_date: known(anything, null),
      }
      const artifacts = items(await api.get(ARTIFACTS, { page_size: 3 }))
      for (const { id, name, ...artifact } of artifacts) {
        const path = `${ARTIFACTS}/${encodeURIComponent(id)}/versions`
        const answer = await api.get(path)
        const versions = column(answer, 'version').map(String)
        ok(api, answer, { items: versions.map(() => ({ ...version, name })) })
        same(versions.length, api.member(artifact, 'version_count'), 'as many as the artifact says')
        same(versions, [...versions].sort().reverse(), 'the last text first')
        same(column(await api.get(path, { offset: 1, limit: 2 }), 'version'), versions.slice(1, 3), 'a window')
        same(column(await api.otherwise.get(path, { page: 2, page_size: 2 }), 'version'), versions.slice(2, 4), 'a page')
      }
    },
  ),
  inFolder('a sink speaks https', ['events.subscriptions.create'], { difference: 'sink-needs-https' }, async (api, parent) => {
    const sink = 'http://sink.example/hook'
    const made = await api.post(`/events/v1/subscriptions/${parent}`, { sink })
    refusedHere(api, made, shape.subscription(parent, { sink }), 3, /^Invalid argument: sink: /)
    if (made.body.id) ok(api, await api.delete(`/events/v1/subscriptions/${made.body.id}`), {})
  }),
]
