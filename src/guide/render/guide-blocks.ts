import type { Guide, GuideBlocker } from '../guide-schema.ts'
import { type Block, code, prose, type Text } from './blocks.ts'
import { callsText } from './calls-text.ts'
import { sectionBlocks } from './section-blocks.ts'

/** Writes a guide as a document. */
export function guideBlocks(guide: Guide): readonly Block[] {
  const { title, topics, blockers, sections, checklist } = guide
  return [
    { kind: 'heading', level: 1, text: [title] },
    ...opening(guide),
    { kind: 'heading', level: 2, text: ['To do'] },
    { kind: 'list', boxes: true, items: checklist.map((item): Text => [item]) },
    ...(topics.length === 0
      ? []
      : ([
          { kind: 'heading', level: 2, text: ['What differs everywhere'] },
          {
            kind: 'table',
            label: 'What differs everywhere',
            head: ['What', 'v1', 'v2'],
            rows: topics.map(({ title: name, v1, v2 }) => [[name], prose(v1), prose(v2)]),
          },
        ] as const)),
    ...(blockers.length === 0
      ? []
      : ([
          { kind: 'heading', level: 2, text: ['What v2 cannot do'] },
          { kind: 'list', items: blockers.map(blockerText) },
        ] as const)),
    ...sections.flatMap(sectionBlocks),
  ]
}

function opening({ client, sections, base }: Guide): readonly Block[] {
  const paragraphs: Text[] = []
  if (client) {
    const { caller, subject, calls, firstSeen, lastSeen } = client
    const who: Text = subject === undefined ? ['The client ', code(caller)] : ['The client ', code(subject), ' (', code(caller), ')']
    paragraphs.push([
      ...who,
      ` made ${callsText({ calls })} to v1 from ${firstSeen.slice(0, 16)}Z to ${lastSeen.slice(0, 16)}Z. The most frequent come first.`,
    ])
  }
  if (sections.length > 0)
    paragraphs.push(prose('The calls below are lines for a shell. `<…>` stands for a value of yours or of an earlier answer.'))
  const setting: readonly Block[] =
    sections.length > 0 ? [{ kind: 'shell', lines: [`V2=${base}`, 'TOKEN=…  # the token that the client sends to v1'] }] : []
  return [...paragraphs.map((text) => ({ kind: 'text', text }) as const), ...setting]
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
