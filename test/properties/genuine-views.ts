import { parentUid } from '../../src/tables/uid.ts'

type Json = Readonly<Record<string, unknown>>

/** Where v2 keeps the data of a stored row of the genuine v1, by resource. Only rows that differ have a view. */
export interface View {
  /** Completes a stored row as the service does before it shows it. */
  readonly completed?: (row: Json) => Json
  /** Returns the v2 answer with the same content. */
  readonly inV2?: (row: Json) => Json
  /** Takes out of a body what the table refuses whatever is stored. */
  readonly asked?: (body: Json) => Json
  /** Returns what v2 gets of a body that the genuine v1 has read. */
  readonly toV2?: (stored: Json) => Json
}

const withoutProviders = ({ providers: _, ...questions }: Json = {}): Json => questions

/** v1 nests the questions; v2 is flat and has dropped one of them. The caller cannot write names (facts §3.3). */
export const metadata: View = {
  completed: ({ onboardingQuestions, ...row }) => ({ ...row, onboardingQuestions: withoutProviders(onboardingQuestions as Json) }),
  inV2: ({ onboardingQuestions, ...row }) => ({ ...(onboardingQuestions as Json), ...row }),
  asked: ({ onboarding_questions, onboardingQuestions, ...body }) => ({
    ...body,
    ...(onboarding_questions !== undefined && { onboarding_questions: withoutProviders(onboarding_questions as Json) }),
    ...(onboardingQuestions !== undefined && { onboardingQuestions: withoutProviders(onboardingQuestions as Json) }),
  }),
  toV2: ({ onboardingQuestions, updatesOptIn }) => ({
    ...withoutProviders(onboardingQuestions as Json),
    ...(updatesOptIn !== undefined && { updatesOptIn }),
  }),
}

/** v2 groups under `identity` what v1 shows beside it (facts §3.5). */
export const hydratedBinding: View = {
  inV2: ({ identityUid, email, emailUnverified, claimMatchIssuer, claimMatchSubject, ...row }) => ({
    ...row,
    identity: { uid: identityUid, email, emailUnverified, issuer: claimMatchIssuer, subject: claimMatchSubject },
  }),
}

/** The group is the parent part of the uid, whether v2 returns it or not. */
export const writtenBinding: View = {
  completed: (row) => ({ group: parentUid(String(row['uid'] ?? '')), ...row }),
  inV2: ({ identityUid, roleUid, group, ...row }) => ({
    ...row,
    identity: { uid: identityUid },
    role: { uid: roleUid },
    group: { uid: group },
  }),
}

const SERVER_SIDE = ['uniqueTags', 'expirationTime', 'apkoOverlay', 'gracePeriod']

const configWithout = (config: unknown, names: readonly string[]): Json | undefined =>
  config === undefined ? undefined : Object.fromEntries(Object.entries(config as Json).filter(([name]) => !names.includes(name)))

/** In v2 the readme is a resource of its own. One member of sync_config is gone, and four are not written at all (facts §4.1). */
export const repo: View = {
  completed: (row) => ({ ...row, sync_config: configWithout(row['sync_config'], ['syncApks']) }),
  inV2: ({ readme, ...row }) => ({ ...row, content: readme }),
  toV2: ({ readme: _, sync_config, ...stored }) => {
    const config = configWithout(sync_config, SERVER_SIDE)
    return config ? { ...stored, sync_config: config } : stored
  },
}

export const eolTag: View = { inV2: ({ id, tagStatus, ...row }) => ({ ...row, uid: id, status: tagStatus }) }

/** An advisory's own uid contains the parent that v1 names in the envelope (facts §5.1, §5.2). */
export const advisories: View = { inV2: ({ id, ...row }) => (id === undefined ? row : { ...row, first: { uid: `${id}/advisory` } }) }
export const advisoryEvents: View = { inV2: ({ parentId }) => (parentId === undefined ? {} : { uid: `${parentId}/advisory` }) }

/** A number in v1, a 64-bit integer as a string in v2 (facts §6.1). */
export const total: View = {
  inV2: ({ totalArtifacts, ...row }) => (totalArtifacts === undefined ? row : { ...row, totalCount: String(totalArtifacts) }),
}
export const totals: View = { inV2: ({ counts = [] }) => ({ counts: (counts as Json[]).map((row) => total.inV2?.(row)) }) }
