import { anything, below, like, list, time } from '../match.ts'

type Members = Readonly<Record<string, unknown>>

const scan = { scanner_version: anything, grype_db_built: anything, grype_db_checksum: anything }
const noted = (members: Members = {}) => ({ ...members, note: anything })

const scanv1 = {
  scanner: anything,
  subpackage_name: anything,
  component_id: anything,
  component_name: anything,
  component_version: anything,
  component_type: anything,
  component_location: anything,
  artifact_version: anything,
  ...scan,
}

/** The source of a finding: one of three, which the answer itself names. */
const detections: Members = { nvdapi: { cpe_searched: anything, cpe_found: anything }, manual: {}, scanv1 }

/** The types of an event and their members (facts §5.2). */
const TYPES: Members = {
  fixed: noted({ fixed_version: anything, ...scan }),
  false_positive_determination: noted({ type: like(/^(?!TYPE_)[A-Z_]+$/) }),
  analysis_not_planned: noted(),
  fix_not_planned: noted(),
  pending_upstream_fix: noted(),
  true_positive_determination: noted(),
  patched: noted({ patched_versions: list }),
}

/** `member` returns a member of an answer by its proto name, in either dialect. */
type Member = (body: unknown, name: string) => unknown

/** Returns the one member of `types` in the answer. An answer without a type, or of an unknown one, matches nothing. */
function typeOf(answer: unknown, types: Members, member: Member): Members {
  const [found] = Object.keys(types).filter((name) => member(answer, name) !== undefined)
  return found === undefined ? { 'one of': Object.keys(types) } : { [found]: types[found] }
}

/** facts §5.2; the type determines the members of an event, and an existing issue its issue. */
export function advisoryEvent(advisory: string, answer: unknown, member: Member): Members {
  const detection = member(answer, 'detection')
  return {
    id: below(advisory),
    timestamp: time,
    findings: like(/^[A-Za-z0-9+/]*={0,2}$/),
    author: anything,
    reviewer: anything,
    status: like(/^(?:UNKNOWN|PENDING|APPROVED|REQUEST_CHANGES|REJECTED)$/),
    ...(member(answer, 'issue') !== undefined && { issue: like(/./) }),
    ...(detection === undefined ? typeOf(answer, TYPES, member) : { detection: typeOf(detection, detections, member) }),
  }
}

const OPTIONAL = ['component_name', 'component_location', 'component_type', 'deleted_at', 'legacyAdvisoryID']

/** facts §5.1; optional members are present if they have a value. */
export function advisory(parent: string, answer: Members, member: Member): Members {
  const events = member(answer, 'events')
  return {
    id: below(parent),
    artifact_type: anything,
    artifact_name: anything,
    artifact_architecture: anything,
    created_at: time,
    updated_at: time,
    aliases: list,
    events: Array.isArray(events) ? events.map((event) => advisoryEvent(String(answer['id']), event, member)) : list,
    advisory_id: like(/./),
    author: anything,
    ...Object.fromEntries(OPTIONAL.filter((name) => member(answer, name) !== undefined).map((name) => [name, like(/./)])),
  }
}
