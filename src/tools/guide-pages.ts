import { shownClient } from '../migrate/clients.ts'
import { count, many } from '../migrate/evidence/evidence.ts'
import type { Guide, GuideBlocker, GuideCall, GuideRequest, GuideSection, MemberRow, ParameterRow } from './guide-request.ts'
import { escapeHtml, htmlDocument, sourceOf } from './markup.ts'

/** A piece of text: plain, code, or a word that stands out. */
type Inline = string | { readonly code: string } | { readonly strong: string }

export type Text = readonly Inline[]

/** A part of a document, without a form. */
export type Block =
  | { readonly kind: 'heading'; readonly level: 1 | 2 | 3 | 4; readonly text: Text }
  | { readonly kind: 'text'; readonly text: Text }
  | { readonly kind: 'list'; readonly items: readonly Text[]; readonly boxes?: true }
  | { readonly kind: 'table'; readonly label: string; readonly head: readonly string[]; readonly rows: readonly (readonly Text[])[] }
  | { readonly kind: 'shell'; readonly lines: readonly string[] }

/** Reads our own prose: what stands between backticks is code. Never pass it a text that a client chose. */
export function prose(text: string): Text {
  return text.split('`').flatMap((part, at): Inline[] => (part === '' ? [] : [at % 2 === 1 ? { code: part } : part]))
}

export function code(text: string): Inline {
  return { code: text }
}

/** Returns names as code with commas between them. */
export function codes(names: readonly string[]): Text {
  return names.flatMap((name, at): Inline[] => (at === 0 ? [code(name)] : [', ', code(name)]))
}

/** Says how often something is called: `about 1,200 calls a day`, or `27 calls` where the time was too short. Empty if nobody counted. */
function callsText({ calls, perDay }: { readonly calls?: number | undefined; readonly perDay?: number | undefined }): string {
  if (calls === undefined) return ''
  if (perDay === undefined) return many(calls, 'call')
  return `about ${many(perDay, 'call')} a day, ${count(calls)} so far`
}

/** Writes what there is to know of one operation. */
function sectionBlocks(section: GuideSection): readonly Block[] {
  const { operation, route, because, grpc, requests, otherRequests, mismatches = 0 } = section
  const others = otherRequests === undefined ? '' : ' Requests of further kinds were seen; what is below holds for them too.'
  const count = callsText(section)
  const wrong = mismatches === 0 ? '' : ` Answers of v1 and v2 differed ${mismatches === 1 ? 'once' : `${mismatches} times`}.`
  return [
    heading(2, operation),
    ...(count === '' ? [] : [paragraph(code(route), `: ${count}.`, wrong, others)]),
    ...(because === undefined ? [] : [paragraph('v2 has no such operation, and the proxy emulates it: ', because, '.')]),
    ...(grpc && grpc.v2.length > 0 ? [paragraph('Over gRPC, ', code(grpc.v1), ' becomes ', ...codes(grpc.v2), '.')] : []),
    ...requests.flatMap((request) => requestBlocks(request, section)),
    ...table('Parameters', `Parameters of ${operation}`, ['v1', 'v2', 'Change'], section.parameters.map(parameterCells)),
    ...memberBlocks('Members that it reads', operation, section.answer),
    ...memberBlocks('Members that it sends', operation, section.body),
    ...differenceBlocks(section),
  ]
}

function paragraph(...text: Text): Block {
  return { kind: 'text', text }
}

function requestBlocks(request: GuideRequest, section: GuideSection): readonly Block[] {
  const { v1, calls, refusal } = request
  const remarks = remarksOn(request, section)
  const lines = calls.flatMap(callLines)
  return [
    { kind: 'heading', level: 3, text: [code(v1)] },
    ...(remarks.length > 0 ? [paragraph(...remarks)] : []),
    ...(refusal ? [paragraph(`v1 refuses it: ${refusal.status} (code ${refusal.code}) ${refusal.message}`)] : []),
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
  return rows.length === 0 ? [] : [heading(3, title), { kind: 'table', label, head, rows }]
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
  const unchanged = same.length === 0 ? [] : [paragraph('The same in v2: ', ...codes(same), '.')]
  const shown = table(title, `${title}: ${operation}`, ['v1', 'v2', 'Change'], changed.map(memberCells))
  if (shown.length > 0) return [...shown, ...unchanged]
  return unchanged.length === 0 ? [] : [heading(3, title), ...unchanged]
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
    return [place, ` (${kind}), seen ${count === 1 ? 'once' : many(count, 'time')}: `, known ?? 'not declared; the report shows examples']
  })
  return [
    ...list(heading(3, 'Differences to expect'), declared, paragraph(DECLARED)),
    ...list(heading(3, 'Differences that were seen'), places),
  ]
}

const DECLARED = 'Crosswalk declares them. What they say of the proxy ends when the client calls v2 itself.'

function heading(level: 1 | 2 | 3, text: string): Block {
  return { kind: 'heading', level, text: [text] }
}

/** A list under its title; nothing if it is empty. */
function list(title: Block, items: readonly Text[], ...before: readonly Block[]): readonly Block[] {
  return items.length === 0 ? [] : [title, ...before, { kind: 'list', items }]
}

/** Writes a guide as a document. */
export function guideBlocks(guide: Guide): readonly Block[] {
  const { title, topics, blockers, sections, checklist } = guide
  const differs = 'What differs everywhere'
  const rows = topics.map(({ title: name, v1, v2 }) => [[name], prose(v1), prose(v2)])
  return [
    heading(1, title),
    ...opening(guide),
    heading(2, 'To do'),
    { kind: 'list', boxes: true, items: checklist.map((item): Text => [item]) },
    ...(rows.length === 0 ? [] : [heading(2, differs), { kind: 'table', label: differs, head: ['What', 'v1', 'v2'], rows } as const]),
    ...list(heading(2, 'What v2 cannot do'), blockers.map(blockerText)),
    ...sections.flatMap(sectionBlocks),
  ]
}

function opening({ client, sections, base }: Guide): readonly Block[] {
  const paragraphs: Text[] = []
  if (client) {
    const { caller, calls, firstSeen, lastSeen, agents = [] } = client
    const shown = shownClient({ caller, name: client.name, subject: client.subject })
    const who: Text = shown === caller ? ['The client ', code(caller)] : ['The client ', code(shown), ' (', code(caller), ')']
    paragraphs.push([
      ...who,
      ...agents.flatMap((agent, nth): Text => [nth === 0 ? ', which calls itself ' : ' and ', code(agent)]),
      agents.length === 0 ? '' : ',',
      ` made ${callsText({ calls })} to v1 from ${firstSeen.slice(0, 16)}Z to ${lastSeen.slice(0, 16)}Z. The most frequent come first.`,
    ])
  }
  if (sections.length > 0)
    paragraphs.push(prose('The calls below are lines for a shell. `<…>` stands for a value of your own or of an earlier answer.'))
  const setting: Block = { kind: 'shell', lines: [`V2=${base}`, 'TOKEN=…  # the token that the client sends to v1'] }
  return [...paragraphs.map((text) => paragraph(...text)), ...(sections.length > 0 ? [setting] : [])]
}

function blockerText({ use, route, because, instead, requests, ...counted }: GuideBlocker): Text {
  const count = callsText(counted)
  const asked = requests.flatMap((request): Text => [' ', code(request)])
  return [
    code(use),
    ...(route === undefined || asked.length > 0 ? [] : [' ', code(route)]),
    ...asked,
    count === '' ? '' : ` (${count})`,
    `: ${because}. `,
    instead === undefined ? 'Nothing in v2 takes its place.' : `Closest in v2: ${instead}.`,
  ]
}

/** The style of a page: readable on a screen, in both themes, and on paper. */
const STYLE = `
:root { color-scheme: light dark; --ink: #1c2024; --quiet: #5a626b; --line: #d5dae0; --ground: #fff; --box: #f4f6f8; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ec; --quiet: #a3abb5; --line: #394049; --ground: #15181c; --box: #1e2328; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.55 system-ui, sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.75rem; line-height: 1.25; margin: 0 0 1rem; overflow-wrap: anywhere; }
h2 { font-size: 1.3rem; margin: 2.5rem 0 .75rem; padding-top: 1rem; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
h3 { font-size: 1.05rem; margin: 1.5rem 0 .5rem; overflow-wrap: anywhere; }
h4 { font-size: .95rem; margin: 1.25rem 0 .4rem; color: var(--quiet); }
p, ul { margin: .5rem 0; max-width: 46rem; }
ul { padding-left: 1.25rem; }
.boxes { list-style: "\\2610\\00a0\\00a0"; }
code { font: .875em/1.5 ui-monospace, monospace; overflow-wrap: anywhere; }
p code, li code, td code, th code { background: var(--box); border-radius: 3px; padding: .05em .25em; }
pre { background: var(--box); border: 1px solid var(--line); border-radius: 6px; padding: .75rem 1rem; white-space: pre-wrap; }
.remark { color: var(--quiet); }
.table { overflow-x: auto; margin: .5rem 0; }
table { border-collapse: collapse; font-size: .925rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .9rem .3rem 0; border-bottom: 1px solid var(--line); font-weight: normal; }
th code, td code { overflow-wrap: normal; }
td:last-child { min-width: 14rem; }
thead th { color: var(--quiet); white-space: nowrap; }
:focus-visible { outline: 2px solid #2f6fde; outline-offset: 2px; }
@media print { body { font-size: 10pt; } main { max-width: none; padding: 0; } .table { overflow: visible; } h2, h3 { break-after: avoid; } tr { break-inside: avoid; } }
`

/** Writes a document as one HTML page that loads nothing and runs nothing. */
export function htmlPage(title: string, blocks: readonly Block[]): string {
  const policy = `default-src 'none'; style-src ${sourceOf(STYLE)}; base-uri 'none'; form-action 'none'`
  const body = `<main>\n${blocks.map(block).join('\n')}\n</main>`
  return htmlDocument({ title: escapeHtml(title), policy, style: STYLE, body })
}

function block(one: Block): string {
  switch (one.kind) {
    case 'heading':
      return `<h${one.level}>${text(one.text)}</h${one.level}>`
    case 'text':
      return `<p>${text(one.text)}</p>`
    case 'list':
      return `<ul${one.boxes ? ' class="boxes"' : ''}>\n${one.items.map((item) => `<li>${text(item)}</li>`).join('\n')}\n</ul>`
    case 'table':
      return htmlTable(one)
    case 'shell': {
      const lines = one.lines.map(escapeHtml).map((line) => (line.startsWith('#') ? `<span class="remark">${line}</span>` : line))
      return `<pre><code>${lines.join('\n')}</code></pre>`
    }
  }
}

/** A wide table scrolls within its box, by keyboard too. */
function htmlTable({ label, head, rows }: Extract<Block, { readonly kind: 'table' }>): string {
  const cells = (content: readonly Text[]) =>
    content.map((cell, at) => (at === 0 ? `<th scope="row">${text(cell)}</th>` : `<td>${text(cell)}</td>`))
  return `<div class="table" tabindex="0" role="region" aria-label="${escapeHtml(label)}"><table>
<thead><tr>${head.map((name) => `<th scope="col">${escapeHtml(name)}</th>`).join('')}</tr></thead>
<tbody>
${rows.map((content) => `<tr>${cells(content).join('')}</tr>`).join('\n')}
</tbody>
</table></div>`
}

function text(parts: Text): string {
  return parts.map(inline).join('')
}

function inline(part: Inline): string {
  if (typeof part === 'string') return escapeHtml(part)
  // A long name may break behind its dots, and nowhere else.
  return 'code' in part
    ? `<code>${escapeHtml(part.code).replace(/\.(?=\w)/g, '.<wbr>')}</code>`
    : `<strong>${escapeHtml(part.strong)}</strong>`
}

/** Writes a document in GitHub's Markdown. */
export function markdownOf(blocks: readonly Block[]): string {
  return `${blocks.map(markdownBlock).join('\n\n')}\n`
}

function markdownBlock(one: Block): string {
  switch (one.kind) {
    case 'heading':
      return `${'#'.repeat(one.level)} ${markdownText(one.text)}`
    case 'text':
      return markdownText(one.text)
    case 'list':
      return one.items.map((item) => `- ${one.boxes ? '[ ] ' : ''}${markdownText(item)}`).join('\n')
    case 'table':
      return [row(one.head.map(markdownEscaped)), row(one.head.map(() => '---')), ...one.rows.map((cells) => row(cells.map(cell)))].join(
        '\n',
      )
    case 'shell':
      return ['```sh', ...one.lines, '```'].join('\n')
  }
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}

/** A bar ends a cell, even within code. */
function cell(content: Text): string {
  return markdownText(content).replaceAll('|', '\\|')
}

function markdownText(parts: Text): string {
  return parts.map(markdownInline).join('')
}

function markdownInline(part: Inline): string {
  if (typeof part === 'string') return markdownEscaped(part)
  return 'code' in part ? codeSpan(part.code) : `**${markdownEscaped(part.strong)}**`
}

/** Plain text must not become markup. A bar is left to `cell`. */
function markdownEscaped(plain: string): string {
  return oneLine(plain).replace(/[\\`*[\]<>&~]|\b_|_\b|^[#+-]/g, (character) => `\\${character}`)
}

/** Code with backticks needs a longer fence. */
function codeSpan(content: string): string {
  const line = oneLine(content)
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  const room = line.startsWith('`') || line.endsWith('`') ? ' ' : ''
  return `${fence}${room}${line}${room}${fence}`
}

function oneLine(plain: string): string {
  return plain.replace(/\s+/g, (gap) => (/[\r\n]/.test(gap) ? ' ' : gap))
}
