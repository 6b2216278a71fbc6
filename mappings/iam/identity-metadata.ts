import {
  ask,
  type Env,
  flag,
  gone,
  isIdentified,
  message,
  nested,
  type Operation,
  ok,
  operation,
  type Plan,
  readOnly,
  refused,
  text,
  texts,
  type V1Request,
} from '../../src/tables/language.ts'

/** The answers to the console's questions at sign-up: nested in v1, flat in v2 (facts §3.3). */
const onboardingQuestions = {
  company_name: text('company'),
  providers: refused('is not kept by v2', gone(texts, 'dropped from v2')),
  product: text('product'),
  job_title: text('jobTitle'),
  utm_campaign: text('utmCampaign'),
  utm_content: text('utmContent'),
  utm_medium: text('utmMedium'),
  utm_source: text('utmSource'),
  utm_term: text('utmTerm'),
  latest_form_submit_url: text('latestFormSubmitUrl'),
  latest_internal_referring_url: text('latestInternalReferringUrl'),
  hubspot_utk: text('hubspotUtk'),
  self_serve: flag('selfServe'),
}

const identityMetadata = message('identity metadata', {
  onboarding_questions: nested(onboardingQuestions),
  name: readOnly('name'),
  given_name: readOnly('givenName'),
  family_name: readOnly('familyName'),
  updatesOptIn: flag('updatesOptIn'),
})

const UPDATE = '/iam/v2/identities:updateIdentityMetadata'

export const identityMetadataOperations: readonly Operation[] = [
  operation('iam.identity_metadata.update', 'PATCH /iam/v1/identities/metadata', {
    calls: [`PATCH ${UPDATE}`],
    request: identityMetadata,
    answer: identityMetadata,
    // facts §3.3
    readBack: { unverifiable: 'no operation shows what callers have told about themselves' },
    plan: update,
  }),
]

/**
 * v1's update is a PATCH too: the members that are present are its mask. v2 wants the mask in the body, with camelCase paths, and refuses
 * `*` there (facts §13.3).
 */
function* update({ body }: V1Request, env: Env): Plan {
  const fields = identityMetadata.read(body)
  const updateMask = Object.keys(fields).join(',')
  const call = { method: 'PATCH', path: UPDATE, query: [], body: { identityMetadata: fields, updateMask } } as const
  const updated = yield* ask(call, { isAnswer: isIdentified })
  return ok(identityMetadata.show[env.dialect](updated))
}
