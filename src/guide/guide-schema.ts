import { z } from 'zod'

/** The format of a guide as JSON. It grows when a member changes its meaning; new members do not change it. */
export const GUIDE_FORMAT = 1

/** What becomes of a v1 parameter or member for a client that calls v2 itself. */
export const FATES = ['same', 'renamed', 'moved', 'inverted', 'converted', 'made', 'ignored', 'dropped'] as const
export type Fate = (typeof FATES)[number]

const plainCall = z.strictObject({
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  /** The whole URL. What only the client or an earlier answer knows stands between angle brackets: `<uid of call 1>`. */
  url: z.string(),
  body: z.unknown().optional(),
  /** The same as a line for a shell, with the variables TOKEN and V2. */
  curl: z.string(),
})

const guideCall = plainCall.extend({
  number: z.number().int().positive(),
  /** It is made for every row of an earlier answer. */
  each: z.enum(['row', 'page']).optional(),
  /** It is made only under this condition. */
  only: z.string().optional(),
  /** Calls that follow when this one ends in a certain way: `when it <when>`. */
  branches: z.array(z.strictObject({ when: z.string(), calls: z.array(plainCall) })).optional(),
})

const guideRequest = z.strictObject({
  /** The v1 request, as `METHOD /path?query`. */
  v1: z.string(),
  /** Names of the members of its body; absent without a body, and where no body was seen. */
  members: z.array(z.string()).optional(),
  /** Parameters that v1 ignores. */
  unknownParameters: z.number().int().positive().optional(),
  /** Share of the calls of this operation, 0 to 1, as far as requests were looked at. */
  share: z.number().optional(),
  calls: z.array(guideCall),
  /** v1 itself refuses the request. */
  refusal: z.strictObject({ status: z.number(), code: z.number(), message: z.string() }).optional(),
})

const parameterRow = z.strictObject({
  v1: z.string(),
  /** Absent if v2 has no such parameter. */
  v2: z.string().optional(),
  fate: z.enum(FATES),
  /** The same part of a request in both versions. */
  example: z.strictObject({ v1: z.string(), v2: z.string() }).optional(),
  note: z.string().optional(),
})

const memberRow = z.strictObject({
  /** Dotted; `[]` stands for every row of a list, `*` for every key of a map. */
  v1: z.string(),
  /** `….uid` is in the object that the note of the member above names. Absent if v2 has no such member. */
  v2: z.string().optional(),
  fate: z.enum(FATES),
  /** How the values of an enum are named. */
  values: z.string().optional(),
  note: z.string().optional(),
})

const seenDifference = z.strictObject({
  kind: z.enum(['status', 'missing', 'extra', 'type', 'value', 'order']),
  where: z.string(),
  count: z.number(),
  /** The declared difference that explains it. */
  code: z.string().optional(),
})

const counts = {
  calls: z.number().int().optional(),
  /** Absent if they were counted for less than an hour. */
  perDay: z.number().optional(),
}

const guideSection = z.strictObject({
  operation: z.string(),
  /** The methods of gRPC that say the same: the one of v1, and those of the calls to v2. */
  grpc: z.strictObject({ v1: z.string(), v2: z.array(z.string()) }).optional(),
  kind: z.enum(['direct', 'composed', 'emulated']),
  route: z.string(),
  because: z.string().optional(),
  ...counts,
  mismatches: z.number().int().optional(),
  requests: z.array(guideRequest),
  /** Requests of further kinds that were looked at and not kept. */
  otherRequests: z.number().int().optional(),
  parameters: z.array(parameterRow),
  /** Members that the client reads, and members that it sends. */
  answer: z.array(memberRow),
  body: z.array(memberRow),
  differences: z.array(z.strictObject({ code: z.string(), seen: z.string(), because: z.string() })),
  seen: z.array(seenDifference),
})

const guideBlocker = z.strictObject({
  /** An operation, `operation?parameter`, or a path that no table knows. */
  use: z.string(),
  route: z.string().optional(),
  because: z.string(),
  /** What comes closest in v2; absent if nothing does. */
  instead: z.string().optional(),
  ...counts,
  requests: z.array(z.string()),
})

const topic = z.strictObject({ title: z.string(), v1: z.string(), v2: z.string() })

/** Everything that a person needs to move one client, or the calls of one operation, from v1 to v2. */
export const guideSchema = z.strictObject({
  format: z.literal(GUIDE_FORMAT),
  title: z.string(),
  client: z
    .strictObject({ caller: z.string(), subject: z.string().optional(), calls: z.number(), firstSeen: z.string(), lastSeen: z.string() })
    .optional(),
  /** The spelling of v1's members: `specification` (snake_case) or `published`. */
  dialect: z.enum(['specification', 'published']),
  /** The address of v2 in the calls. */
  base: z.string(),
  /** What holds for all calls. */
  topics: z.array(topic),
  /** What v2 cannot do. */
  blockers: z.array(guideBlocker),
  sections: z.array(guideSection),
  checklist: z.array(z.string()),
})

export type Guide = z.infer<typeof guideSchema>
export type GuideSection = z.infer<typeof guideSection>
export type GuideBlocker = z.infer<typeof guideBlocker>
export type GuideRequest = z.infer<typeof guideRequest>
export type GuideCall = z.infer<typeof guideCall>
export type ParameterRow = z.infer<typeof parameterRow>
export type MemberRow = z.infer<typeof memberRow>
export type Topic = z.infer<typeof topic>
