import { FALSE_POSITIVE_TYPES } from '../v2/advisory/enums.ts'
import type { AdvisoryEvent } from '../world/advisory-model.ts'

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

export type Package = (typeof PACKAGES)[number]

export const SCANNER_RUN = { scannerVersion: '0.92.0', grypeDbBuilt: '2026-01-08T02:00:00Z', grypeDbChecksum: 'sha256:demo' }

const REVIEW = {
  approved: 'REVIEW_STATE_APPROVED',
  pending: 'REVIEW_STATE_PENDING',
  changes: 'REVIEW_STATE_REQUEST_CHANGES',
  rejected: 'REVIEW_STATE_REJECTED',
} as const

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

const { approved, pending, changes, rejected } = REVIEW

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
