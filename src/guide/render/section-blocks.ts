import type { GuideCall, GuideRequest, GuideSection, MemberRow, ParameterRow } from '../guide-schema.ts'
import { type Block, code, codes, type Inline, prose, type Text } from './blocks.ts'
import { callsText } from './calls-text.ts'

/** Writes what there is to know of one operation. */
export function sectionBlocks(section: GuideSection): readonly Block[] {
  const { operation, route, because, requests, otherRequests, mismatches = 0 } = section
  const others = otherRequests === undefined ? '' : ' Requests of further kinds were seen; what is below holds for them too.'
  const count = callsText(section)
  const wrong = mismatches === 0 ? '' : ` Answers of v1 and v2 differed ${mismatches === 1 ? 'once' : `${mismatches} times`}.`
  return [
    { kind: 'heading', level: 2, text: [operation] },
    ...(count === '' ? [] : [{ kind: 'text', text: [code(route), `: ${count}.`, wrong, others] } as const]),
    ...(because === undefined
      ? []
      : [{ kind: 'text', text: ['v2 has no such operation, and the proxy emulates it: ', because, '.'] } as const]),
    ...grpcBlocks(section),
    ...requests.flatMap((request) => requestBlocks(request, section)),
    ...table('Parameters', `Parameters of ${operation}`, ['v1', 'v2', 'Change'], section.parameters.map(parameterCells)),
    ...memberBlocks('Members that it reads', operation, section.answer),
    ...memberBlocks('Members that it sends', operation, section.body),
    ...differenceBlocks(section),
  ]
}

/** Names the methods for clients that speak gRPC. */
function grpcBlocks({ grpc }: GuideSection): readonly Block[] {
  if (!grpc || grpc.v2.length === 0) return []
  return [{ kind: 'text', text: ['Over gRPC, ', code(grpc.v1), ' becomes ', ...codes(grpc.v2), '.'] }]
}

function requestBlocks(request: GuideRequest, section: GuideSection): readonly Block[] {
  const { v1, calls, refusal } = request
  const remarks = remarksOn(request, section)
  const lines = calls.flatMap(callLines)
  return [
    { kind: 'heading', level: 3, text: [code(v1)] },
    ...(remarks.length > 0 ? [{ kind: 'text', text: remarks } as const] : []),
    ...(refusal ? [{ kind: 'text', text: [`v1 refuses it: ${refusal.status} (code ${refusal.code}) ${refusal.message}`] } as const] : []),
    ...(lines.length === 0 ? [] : [{ kind: 'shell', lines } as const]),
  ]
}

/** Says what is known of a client's requests of this kind. */
function remarksOn({ members, unknownParameters = 0, share }: GuideRequest, { requests, body }: GuideSection): Text {
  const remarks: Text[] = []
  if (share !== undefined && requests.length > 1) remarks.push([`${Math.round(share * 100)} % of these calls.`])
  if (members && members.length > 0) remarks.push(['It sends ', ...codes(members), '.'])
  if (share !== undefined && !members && body.length > 0) remarks.push(['Its body was not seen, so every member is shown.'])
  if (unknownParameters > 0) remarks.push([`v1 ignores ${unknownParameters} more of its parameters.`])
  return remarks.flatMap((remark, at) => (at === 0 ? remark : [' ', ...remark]))
}

const EACH = { row: 'for each row', page: 'for each page of rows, with the values of all of them' } as const

/** Returns a call as lines for a shell: the condition under which it is made, itself, and what follows it. */
export function callLines({ number, each, only, curl, branches = [] }: GuideCall): readonly string[] {
  const conditions = [...(each ? [EACH[each]] : []), ...(only === undefined ? [] : [`only if ${only}`])]
  const head = conditions.length > 0 ? [`# call ${number}, ${conditions.join(', ')}`] : number > 1 ? [`# call ${number}`] : []
  const followed = branches.flatMap(({ when, calls }) => [`# when call ${number} ${when}:`, ...calls.map((call) => `#   ${call.curl}`)])
  return [...head, curl, ...followed]
}

function table(title: string, label: string, head: readonly string[], rows: readonly (readonly Text[])[]): readonly Block[] {
  if (rows.length === 0) return []
  return [
    { kind: 'heading', level: 3, text: [title] },
    { kind: 'table', label, head, rows },
  ]
}

function parameterCells({ v1, v2, fate, example, note }: ParameterRow): readonly Text[] {
  const shown: Text = example && fate !== 'same' ? [': ', code(example.v1), ' → ', code(example.v2)] : []
  return [[code(v1)], v2 === undefined ? ['–'] : [code(v2)], [fate, ...shown, ...(note === undefined ? [] : [`; ${note}`])]]
}

/** Lists the members that change, and names the others. */
function memberBlocks(title: string, operation: string, rows: readonly MemberRow[]): readonly Block[] {
  const isSame = ({ fate, note }: MemberRow) => fate === 'same' && note === undefined
  const changed = rows.filter((row) => !isSame(row) && !rows.some((parent) => isWithin(row, parent)))
  const same = rows.filter(isSame).map(({ v1 }) => v1)
  const unchanged: readonly Block[] = same.length === 0 ? [] : [{ kind: 'text', text: ['The same in v2: ', ...codes(same), '.'] }]
  const shown = table(title, `${title}: ${operation}`, ['v1', 'v2', 'Change'], changed.map(memberCells))
  if (shown.length > 0) return [...shown, ...unchanged]
  return unchanged.length === 0 ? [] : [{ kind: 'heading', level: 3, text: [title] }, ...unchanged]
}

/** True for a member of an object that v2 lacks as a whole, or that v1 ignores as a whole. */
function isWithin({ v1, fate }: MemberRow, parent: MemberRow): boolean {
  const isLeft = fate === parent.fate && (fate === 'dropped' || fate === 'ignored')
  return isLeft && ['.', '[].', '.*.'].some((suffix) => v1.startsWith(parent.v1 + suffix))
}

function memberCells({ v1, v2, fate, values, note }: MemberRow): readonly Text[] {
  const said = [values, note].filter((part) => part !== undefined)
  return [[code(v1)], v2 === undefined ? ['–'] : [code(v2)], [said.length === 0 ? fate : `${fate}: ${said.join('; ')}`]]
}

function differenceBlocks({ differences, seen }: GuideSection): readonly Block[] {
  const declared = differences.map((one): Text => [{ strong: one.code }, `: ${one.seen} ${one.because}`])
  const places = seen.map(({ kind, where, count, code: known }): Text => {
    const place: Inline = where === '' ? 'the status' : code(where)
    return [place, ` (${kind}), seen ${count === 1 ? 'once' : `${count} times`}: `, known ?? 'not declared; the report shows examples']
  })
  return [
    ...(declared.length === 0
      ? []
      : [heading('Differences to expect'), { kind: 'text', text: [DECLARED] } as const, { kind: 'list', items: declared } as const]),
    ...(places.length === 0 ? [] : [heading('Differences that were seen'), { kind: 'list', items: places } as const]),
  ]
}

const DECLARED = 'Crosswalk declares them. What they say of the proxy ends when the client calls v2 itself.'

function heading(text: string): Block {
  return { kind: 'heading', level: 3, text: prose(text) }
}
