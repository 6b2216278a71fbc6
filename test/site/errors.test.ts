import { describe, expect, it } from 'vitest'
import { ERRORS } from '../../docs/site/errors/errors-page.ts'
import { errorSites, textsOf } from './error-sites.ts'

/** Words that other texts stand in, or that a service says. The head of the page and of its parts explain them. */
const FRAMES = ['the … …', 'Invalid argument: …', '…; ask again later', 'parsing field "…": …']

/** Texts that reach their error from elsewhere, with the files that hold them. */
const HANDED: readonly (readonly [file: string, texts: readonly string[]])[] = [
  ['src/errors.ts', ['the v2 service answered HTTP … without naming a missing resource']],
  ['src/errors.ts', ['service sent an answer that cannot be passed on']],
  [
    'src/serve/http/app.ts',
    [
      'the request is not well-formed HTTP',
      'the request has no host header',
      'the request has two host headers',
      'a WebSocket handshake is a GET without content-length and transfer-encoding',
      'the request line and headers are larger than limits.headerBytes (…) allows',
      'the request headers did not arrive within limits.headersTimeoutMs (…)',
    ],
  ],
  [
    'src/serve/http/admission.ts',
    [
      'more than limits.requestsInFlight (…) requests are under way',
      'requests without a credential take their share of limits.requestsInFlight (…), three quarters',
      'more than limits.callerInFlight (…) requests of this caller are under way',
      'this caller sends more than limits.callerPerSecond (…) requests a second',
    ],
  ],
  ['src/tables/fields.ts', ['must be a …', 'must be one of …']],
  ['src/tables/query.ts', ['needs a v1 service: …; set upstream.v1 (CROSSWALK_UPSTREAM_V1) to pass it on', 'is not a valid value']],
  ['src/serve/answer.ts', ['is not a parameter of this operation']],
  ['src/serve/upstream/v1.ts', ['the v1 service did not answer in time', 'the v1 service cannot be reached']],
  ['src/grpc/relay/session.ts', ['the … service does not speak gRPC; set upstream.…Grpc to rest if it speaks REST']],
  ['src/grpc/wire/call.ts', ['the client went away']],
  ['mappings/registry/repos.ts', ['the repo was created with id …, but without its readme', 'the readme had already been replaced']],
]

/** Files whose errors say only what those above, a service or another replica says. */
const HANDS_ON = new Set([
  ...HANDED.map(([file]) => file),
  'mappings/registry/readme.ts',
  'src/migrate/modes/select.ts',
  'src/grpc/calls/answer-v1.ts',
  'src/serve/http/v1-surface.ts',
  'src/grpc/messages/status-of.ts',
  'src/tables/compile.ts',
  'src/tables/query.ts',
])

/** A text of holes alone says what it is handed. */
const hasWords = (text: string) => /\w{2}/.test(text.replace(/\(.*?\)/g, ''))

const sites = errorSites()
const listed = new Set(ERRORS.flatMap(({ rows }) => rows.flatMap(({ texts }) => texts)))
const made = new Set([...sites.flatMap(({ texts }) => texts.filter(hasWords)), ...HANDED.flatMap(([, texts]) => texts)])

describe('the page of errors', () => {
  it('lists every text with which Crosswalk makes an error of v1', () => {
    const spelled = (text: string) => (text === 'is not a valid value' ? '… is not a valid value' : text)
    expect([...made].map(spelled).filter((text) => !listed.has(text) && !FRAMES.includes(text))).toEqual([])
  })

  it('lists no text that nothing says', () => {
    const said = new Set([...made, '… is not a valid value'])
    expect([...listed].filter((text) => !said.has(text))).toEqual([])
  })

  it('knows every place that says what others hand it', () => {
    const handing = sites.filter(({ texts }) => texts.filter(hasWords).length === 0).map(({ file }) => file)
    expect(handing.filter((file) => !HANDS_ON.has(file))).toEqual([])
  })

  it.each(HANDED)('finds in %s what it hands on', (file, texts) => {
    expect(textsOf(file)).toEqual(expect.arrayContaining([...texts]))
  })

  it('says of every error what to do, without a full stop at the end of a cell', () => {
    const cells = ERRORS.flatMap(({ rows }) => rows.flatMap(({ cause, remedy }) => [cause, remedy]))
    expect(cells.filter((cell) => cell.length < 10 || cell.endsWith('.'))).toEqual([])
  })
})
