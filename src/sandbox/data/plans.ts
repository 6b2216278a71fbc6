import { hash } from 'node:crypto'
import { imageUid } from '../v2/registry/tags.ts'
import {
  type AdvisoryEvent,
  FALSE_POSITIVE_TYPES,
  type Image,
  type Severity,
  type Tag,
  type TagPoint,
  type VulnerabilityMetadata,
} from '../world/model.ts'

/**
 * The uid of a fixture. It is derived from the label, so that a new fixture never changes another's uid. An empty parent makes a root uid.
 */
export const fixtureUid = (parent: string, label: string): string => {
  const hex = hash('sha1', `${parent}\n${label}`)
  return parent === '' ? hex : `${parent}/${hex.slice(0, 16)}`
}

/** An image digest derived from a label. */
export const fixtureDigest = (label: string): string => `sha256:${hash('sha256', label)}`

/** Both dates of a row that was never changed. */
export const dated = (time: string) => ({ createTime: time, updateTime: time })

/** The time `days` after a date of the form `2026-01-23`, at nine in the morning. */
export const dayAfter = (date: string, days: number): string =>
  new Date(Date.parse(`${date}T09:00:00Z`) + days * 24 * 60 * 60 * 1000).toISOString()

/** The packages with advisories in the demo: artifact name, type, affected version, fixed version, origin of the package. */
export const PACKAGES = [
  { name: 'openssl', type: 'apk', version: '3.5.0-r0', fixedVersion: '3.5.0-r2', namespace: 'wolfi' },
  { name: 'glibc', type: 'apk', version: '2.41-r1', fixedVersion: '2.41-r4', namespace: 'wolfi' },
  { name: 'curl', type: 'apk', version: '8.13.0-r0', fixedVersion: '8.14.1-r0', namespace: 'wolfi' },
  { name: 'python-3.12', type: 'apk', version: '3.12.9-r0', fixedVersion: '3.12.10-r1', namespace: 'wolfi' },
  { name: 'nodejs-24', type: 'apk', version: '24.1.0-r0', fixedVersion: '24.2.0-r0', namespace: 'chainguard' },
  { name: 'go-1.24', type: 'apk', version: '1.24.2-r0', fixedVersion: '1.24.4-r0', namespace: 'wolfi' },
  { name: 'zlib', type: 'library', version: '1.3.1-r6', fixedVersion: '1.3.1-r7', namespace: 'wolfi' },
  { name: 'libxml2', type: 'apk', version: '2.14.2-r0', fixedVersion: '2.14.4-r0', namespace: 'chainguard' },
] as const

type Package = (typeof PACKAGES)[number]

const SCANNER_RUN = { scannerVersion: '0.92.0', grypeDbBuilt: '2026-01-08T02:00:00Z', grypeDbChecksum: 'sha256:demo' }

/** The content of an event and the reviewer's decision. */
export type Step = { readonly says: Partial<AdvisoryEvent>; readonly review: string }

type Says = (from: Package, number: number) => Partial<AdvisoryEvent>

const scanned: Says = ({ name, version, type }) => ({
  detection: {
    scanv1: {
      scanner: 'grype',
      subpackage: `${name}-dev`,
      componentId: `demo-${name}`,
      component: name,
      componentVersion: version,
      componentType: type,
      componentLocation: `/usr/lib/${name}`,
      artifactVersion: version,
      ...SCANNER_RUN,
    },
  },
})
const searched: Says = ({ name }) => ({
  detection: { nvdapi: { cpeSearched: `cpe:2.3:a:${name}:${name}:*`, cpeFound: `cpe:2.3:a:${name}:${name}:1` } },
})
const seen: Says = () => ({ detection: { manual: {} } })
const affected: Says = () => ({ truePositiveDetermination: { note: 'The flaw can be reached' } })
const notAffected: Says = (_from, number) => ({
  falsePositiveDetermination: {
    type: FALSE_POSITIVE_TYPES[1 + (number % (FALSE_POSITIVE_TYPES.length - 1))] ?? '',
    note: 'The code is not part of the package',
  },
})
const fixed: Says = ({ fixedVersion }) => ({ fixed: { fixedVersion, note: 'Update to the fixed version', ...SCANNER_RUN } })
const patched: Says = ({ fixedVersion }) => ({ patched: { patchedVersions: [fixedVersion], note: 'A backport carries the fix' } })
const waiting: Says = () => ({ pendingUpstreamFix: { note: 'Upstream works on it' } })
const wontFix: Says = () => ({ fixNotPlanned: { note: 'The component is about to be removed' } })
const notAnalysed: Says = () => ({ analysisNotPlanned: { note: 'The line has ended' } })
const moved: Says = ({ name }) => ({
  componentLocationChanged: { previousLocation: `/usr/lib/${name}`, newLocation: `/usr/lib64/${name}`, note: '' },
})

const approved = 'REVIEW_STATE_APPROVED'
const pending = 'REVIEW_STATE_PENDING'
const changes = 'REVIEW_STATE_REQUEST_CHANGES'
const rejected = 'REVIEW_STATE_REJECTED'

/** The histories that advisories take in turn. They contain every kind of event and every review state. */
const LIVES: readonly (readonly (readonly [Says, string])[])[] = [
  [[scanned, approved]],
  [
    [searched, approved],
    [affected, approved],
    [fixed, approved],
  ],
  [
    [scanned, approved],
    [notAffected, approved],
  ],
  [
    [seen, approved],
    [affected, approved],
    [waiting, approved],
  ],
  [
    [scanned, approved],
    [wontFix, approved],
  ],
  [
    [scanned, approved],
    [notAnalysed, approved],
  ],
  [
    [searched, approved],
    [affected, approved],
    [patched, approved],
  ],
  [
    [scanned, approved],
    [moved, approved],
    [fixed, approved],
  ],
  [
    [scanned, approved],
    [fixed, pending],
  ],
  [
    [scanned, approved],
    [notAffected, changes],
  ],
  [
    [seen, approved],
    [wontFix, rejected],
  ],
]

/** The history of advisory `number` about `from`, oldest first. */
export const lifeOf = (from: Package, number: number): readonly Step[] =>
  (LIVES[number % LIVES.length] ?? []).map(([says, review]) => ({ says: says(from, number), review }))

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

const compactDay = (time: string): string => time.slice(0, 10).replaceAll('-', '')

/** A patch has its plain tag, two epochs, a dated tag and the referrers of its image (signature, attestation, bill of materials). */
const buildTags = (repo: string, from: string, { version, variant, day, deprecated }: Build): readonly Tag[] => {
  const time = dayAfter(from, day)
  const digest = fixtureDigest(`${repo} ${version}${variant}`)
  const names = [`${version}${variant}-${compactDay(time)}`, `${version}${variant}-r1`]
  const first = tag(repo, `${version}${variant}-r0`, fixtureDigest(`${repo} ${version}${variant} r0`), dayAfter(from, day - 1), deprecated)
  const history = [{ digest: first.digest, updateTime: first.updateTime }]
  const plain = { ...tag(repo, `${version}${variant}`, digest, time, deprecated), history }
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
      return names.map((name) => ({ ...tag(repo, `${name}${variant}`, digest, time, stream.ended === true), history }))
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
  const history = nights.slice(0, -1).map((updateTime) => ({ digest: digestOf(updateTime), updateTime }))
  return [...dated, ...nights.slice(-1).map((time) => ({ ...tag(repo, 'latest', digestOf(time), time, false), history }))]
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

/** Invented vulnerabilities. Their numbers are unassigned, so that no reader takes the demo for news. */

const WEAKNESSES = [
  'Out-of-bounds read',
  'Use after free',
  'Integer overflow',
  'Uncontrolled recursion',
  'Improper certificate validation',
  'Path traversal',
  'Denial of service through crafted input',
] as const

/** CVSS scores in rotation. The empty text is a vulnerability without a score. */
const SCORES = ['9.8', '7.5', '5.3', '3.1', '8.1', '6.5', '0.0', ''] as const

/** Every tenth one also has a score of the previous CVSS version, every seventh one of the next. */
const severitiesOf = (number: number): readonly Severity[] => {
  const score = SCORES[number % SCORES.length] ?? ''
  if (score === '') return []
  return [
    ...(number % 10 === 0 ? [{ type: 'TYPE_CVSS_V2', score }] : []),
    { type: 'TYPE_CVSS_V3', score },
    ...(number % 7 === 0 ? [{ type: 'TYPE_CVSS_V4', score }] : []),
  ]
}

/** `CVE-2026-90001` for 1. */
export const cveId = (number: number): string => `CVE-2026-${90_000 + number}`

/** The alphabet of GHSA and CGA ids (semantics §3.13). */
const ALPHABET = '23456789cfghjmpqrvwx'

/** An id of the form `<prefix>-xxxx-xxxx-xxxx`, derived from a label. */
export const letteredId = (prefix: string, label: string): string => {
  const letters = [...Buffer.from(fixtureDigest(label).slice(7, 31), 'hex')].map((byte) => ALPHABET[byte % ALPHABET.length])
  return [prefix, ...[0, 4, 8].map((at) => letters.slice(at, at + 4).join(''))].join('-')
}

export const ghsaId = (number: number): string => letteredId('GHSA', cveId(number))

/** The metadata of vulnerability `number`. */
export const vulnerability = (number: number): VulnerabilityMetadata => {
  const id = cveId(number)
  const weakness = WEAKNESSES[number % WEAKNESSES.length]
  return {
    uid: id,
    id,
    summary: `${weakness} (demo)`,
    details: `${weakness} in a component of the demo data. It was never found anywhere.`,
    references: [
      { type: 'TYPE_ADVISORY', url: `https://advisories.example.com/${ghsaId(number)}` },
      { type: 'TYPE_WEB', url: `https://cve.example.com/${id}` },
      ...(number % 3 === 0 ? [{ type: 'TYPE_FIX', url: `https://git.example.com/commit/${fixtureDigest(id).slice(7, 47)}` }] : []),
    ],
    severities: severitiesOf(number),
  }
}
