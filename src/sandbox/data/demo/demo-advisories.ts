import type { Advisory, AdvisoryDocument, AdvisoryEvent, DocumentEvent } from '../../world/advisory-model.ts'
import type { Group } from '../../world/iam-model.ts'
import { lifeOf, PACKAGES, type Step } from '../advisory-plan.ts'
import type { Rows } from '../dataset.ts'
import { dayAfter, fixtureUid } from '../fixture.ts'
import { acmeDev, exampleCom } from '../groups.ts'
import { cveId, ghsaId, letteredId, vulnerability } from '../vulnerabilities.ts'

const FIRST_DAY = '2026-01-10'

/** The number of advisories. 8 packages and 11 histories meet in every pairing before one repeats. */
const ADVISORIES = 60
/** More than the advisories: vulnerabilities without an advisory have metadata as well. */
const VULNERABILITIES = 80

const AUTHORS = ['scanner@example.com', 'alice@example.com', 'bob@example.com'] as const
const REVIEWED: ReadonlySet<string> = new Set(['REVIEW_STATE_APPROVED', 'REVIEW_STATE_REQUEST_CHANGES', 'REVIEW_STATE_REJECTED'])

const event = (advisory: string, number: number, { says, review }: Step, step: number): AdvisoryEvent => ({
  uid: fixtureUid(advisory, `event ${step}`),
  createTime: dayAfter(FIRST_DAY, number / 2 + step),
  findings: step === 0 ? Buffer.from(JSON.stringify({ vulnerability: cveId(number) })).toString('base64') : '',
  author: AUTHORS[(number + step) % AUTHORS.length] ?? '',
  reviewer: REVIEWED.has(review) ? 'carol@example.com' : '',
  reviewState: review,
  issue: step === 0 ? '' : `https://issues.example.com/${number}`,
  ...says,
})

const packageOf = (number: number) => PACKAGES[number % PACKAGES.length] ?? PACKAGES[0]

const advisory = (parent: Group, number: number): Advisory => {
  const from = packageOf(number)
  const uid = fixtureUid(parent.uid, `advisory ${number}`)
  const events = lifeOf(from, number).map((step, at) => event(uid, number, step, at))
  const detailed = number % 4 !== 0
  return {
    uid,
    advisoryId: letteredId('CGA', `${parent.uid} ${number}`),
    createTime: dayAfter(FIRST_DAY, number / 2),
    updateTime: events.at(-1)?.createTime ?? dayAfter(FIRST_DAY, number / 2),
    author: AUTHORS[number % AUTHORS.length] ?? '',
    artifactName: from.name,
    artifactType: from.type,
    artifactArchitecture: number % 5 === 0 ? 'aarch64' : 'x86_64',
    componentName: detailed ? from.name : '',
    componentLocation: detailed ? `/usr/lib/${from.name}` : '',
    componentType: detailed ? from.type : '',
    aliases: [cveId(number), ghsaId(number)],
    events,
    legacyAdvisoryId: number % 3 === 0 ? `LEGACY-${number}` : '',
    severities: vulnerability(number).severities,
  }
}

type Detected = NonNullable<AdvisoryEvent['detection']>

/** The feed has other names for two members of a scan. */
const publishedScan = ({ subpackage, component, ...scan }: NonNullable<Detected['scanv1']>) => ({
  ...scan,
  subpackageName: subpackage,
  componentName: component,
})

const publishedFix = ({ note: _note, ...fix }: NonNullable<AdvisoryEvent['fixed']>) => fix

/** The feed's form of an event. It has no patches, no moved components and no notes on a fix (facts §7). */
const published = (from: AdvisoryEvent): DocumentEvent => ({
  timestamp: from.createTime,
  falsePositiveDetermination: from.falsePositiveDetermination,
  analysisNotPlanned: from.analysisNotPlanned,
  fixNotPlanned: from.fixNotPlanned,
  pendingUpstreamFix: from.pendingUpstreamFix,
  truePositiveDetermination: from.truePositiveDetermination,
  fixed: from.fixed && publishedFix(from.fixed),
  detection: from.detection && { ...from.detection, scanv1: from.detection.scanv1 && publishedScan(from.detection.scanv1) },
})

const isPublished = ({ reviewState, patched, componentLocationChanged }: AdvisoryEvent): boolean =>
  reviewState === 'REVIEW_STATE_APPROVED' && !patched && !componentLocationChanged

const document = (name: string, namespace: string, rows: readonly Advisory[]): AdvisoryDocument => ({
  uid: name,
  id: name,
  advisories: rows.map(({ advisoryId, events, aliases }) => ({
    id: advisoryId,
    events: events.filter(isPublished).map(published),
    aliases,
    packageNamespace: namespace,
  })),
})

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1)

/** Advisories of `example.com`, three of `acme.dev` to prove isolation, and the public feed on the same packages. */
export const demoAdvisories = (): Rows => {
  const own = numbers(ADVISORIES).map((number) => advisory(exampleCom, number))
  return {
    advisories: [...own, ...numbers(3).map((number) => advisory(acmeDev, number))],
    documents: PACKAGES.map(({ name, namespace }) =>
      document(
        name,
        namespace,
        own.filter(({ artifactName }) => artifactName === name),
      ),
    ),
    vulnerabilityMetadata: numbers(VULNERABILITIES).map(vulnerability),
  }
}
