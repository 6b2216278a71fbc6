import { imageUid } from '../v2/registry/images.ts'
import type { Image, Tag, TagPoint } from '../world/registry-model.ts'
import { dayAfter, fixtureDigest, fixtureUid } from './fixture.ts'

/** One release line of a repo: its name and its number of patches. All tags of an ended line are deprecated. */
export type Stream = { readonly name: string; readonly patches: number; readonly ended?: true }

/** The plan of a repo's tags. `streams` are oldest first. A repo without streams has nightly builds only. */
export type TagPlan = { readonly from: string; readonly streams: readonly Stream[]; readonly nightlies?: number }

/** One build: the tags made at one moment from one source. */
type Build = { readonly version: string; readonly variant: '' | '-dev'; readonly day: number; readonly deprecated: boolean }

const VARIANTS = ['', '-dev'] as const

const tag = (repo: string, name: string, digest: string, updateTime: string, deprecated: boolean): Tag => ({
  uid: fixtureUid(repo, `tag ${name}`),
  name,
  digest,
  updateTime,
  deprecated,
  bundles: [],
})

/** `tag` with earlier targets. */
const moved = (row: Tag, history: readonly TagPoint[]): Tag => ({ ...row, history })

const compactDay = (time: string): string => time.slice(0, 10).replaceAll('-', '')

/** A patch has its plain tag, two epochs, a dated tag and the referrers of its image (signature, attestation, bill of materials). */
const buildTags = (repo: string, from: string, { version, variant, day, deprecated }: Build): readonly Tag[] => {
  const time = dayAfter(from, day)
  const digest = fixtureDigest(`${repo} ${version}${variant}`)
  const names = [`${version}${variant}-${compactDay(time)}`, `${version}${variant}-r1`]
  const first = tag(repo, `${version}${variant}-r0`, fixtureDigest(`${repo} ${version}${variant} r0`), dayAfter(from, day - 1), deprecated)
  const plain = moved(tag(repo, `${version}${variant}`, digest, time, deprecated), [{ digest: first.digest, updateTime: first.updateTime }])
  const referrers = ['sig', 'att', 'sbom'].map((kind) =>
    tag(repo, `${digest.replace(':', '-')}.${kind}`, fixtureDigest(`${digest} ${kind}`), time, false),
  )
  return [plain, ...names.map((name) => tag(repo, name, digest, time, deprecated)), first, ...referrers]
}

/** The digest and time of every patch of a line except the newest: the earlier targets of its moving tag. */
const passed = (repo: string, from: string, stream: Stream, index: number, variant: string): readonly TagPoint[] =>
  Array.from({ length: stream.patches - 1 }, (_, patch) => ({
    digest: fixtureDigest(`${repo} ${stream.name}.${patch}${variant}`),
    updateTime: dayAfter(from, index * 3 + patch * 7),
  }))

/** The moving tags: the line's own name, and `latest` and the major version for the newest line. */
const pointerTags = (repo: string, plan: TagPlan): readonly Tag[] =>
  plan.streams.flatMap((stream, index) => {
    const newest = index === plan.streams.length - 1
    const names = [stream.name, ...(newest ? ['latest', ...majorOf(stream.name)] : [])]
    const last = `${stream.name}.${stream.patches - 1}`
    const time = dayAfter(plan.from, index * 3 + stream.patches * 7)
    return VARIANTS.flatMap((variant) => {
      const history = passed(repo, plan.from, stream, index, variant)
      const digest = fixtureDigest(`${repo} ${last}${variant}`)
      return names.map((name) => moved(tag(repo, `${name}${variant}`, digest, time, stream.ended === true), history))
    })
  })

const majorOf = (name: string): readonly string[] => (name.includes('.') ? [name.slice(0, name.indexOf('.'))] : [])

const streamBuilds = (stream: Stream, index: number): readonly Build[] =>
  Array.from({ length: stream.patches }, (_, patch) => patch).flatMap((patch) =>
    VARIANTS.map((variant) => ({
      version: `${stream.name}.${patch}`,
      variant,
      day: index * 3 + patch * 7,
      deprecated: stream.ended === true,
    })),
  )

const nightlyTags = (repo: string, { from, nightlies = 0 }: TagPlan): readonly Tag[] => {
  const nights = Array.from({ length: nightlies }, (_, day) => dayAfter(from, day))
  const digestOf = (time: string) => fixtureDigest(`${repo} ${time}`)
  const dated = nights.map((time) => tag(repo, `latest-${compactDay(time)}`, digestOf(time), time, false))
  const before = nights.slice(0, -1).map((updateTime) => ({ digest: digestOf(updateTime), updateTime }))
  return [...dated, ...nights.slice(-1).map((time) => moved(tag(repo, 'latest', digestOf(time), time, false), before))]
}

/** Every tag of a repo. Tags of one build share their digest and their time, so that sorting has ties to break. */
export const planTags = (repo: string, plan: TagPlan): readonly Tag[] => [
  ...plan.streams.flatMap((stream, index) => streamBuilds(stream, index).flatMap((build) => buildTags(repo, plan.from, build))),
  ...pointerTags(repo, plan),
  ...nightlyTags(repo, plan),
]

/** A size between 5 and 85 MB, derived from the digest. */
const sizeOf = (digest: string, architecture: string): string => {
  const spread = Number.parseInt(fixtureDigest(`${digest} ${architecture}`).slice(7, 14), 16)
  return String(5_000_000 + (spread % 80_000_000))
}

/** The images behind `tags`. Referrers are not images. */
export const planImages = (repo: string, tags: readonly Tag[]): readonly Image[] => {
  const digests = new Set(tags.filter(({ name }) => !name.startsWith('sha256-')).map(({ digest }) => digest))
  return [...digests].map((digest) => ({
    uid: imageUid(repo, digest),
    digest,
    sizes: { amd64: sizeOf(digest, 'amd64'), arm64: sizeOf(digest, 'arm64') },
  }))
}
