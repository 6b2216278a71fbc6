import { existsSync } from 'node:fs'
import { asApiError } from '../../../errors.ts'
import { fileWithin } from '../../../files.ts'
import { pathOf } from '../../../serve/classify.ts'
import { FORM } from '../../../serve/route.ts'
import { suggestion } from '../../../tables/check.ts'
import { covers } from '../../../tables/operation.ts'
import { operationsOf, type Tables } from '../../../tables/tables.ts'
import { explain as explainRequest, jsonReport, textReport } from '../../../tools/explain.ts'
import type { GrpcSubject } from '../../../tools/explain-grpc.ts'
import { operationGuide } from '../../../tools/guide.ts'
import { createRouteRecorded, type RecordedRoute } from '../../../tools/replay/replay.ts'
import { compatSettings } from '../../config/config.ts'
import type { Config } from '../../config/settings.ts'
import { type Command, endWith, FAILED, type Flags, type Io, MISUSED, print, textOf } from '../command.ts'
import { configOf } from '../flags.ts'
import { callFlags, checkGuideFlags, DEFAULT_BASE, guideContext, guideFlags, writeGuide } from './clients.ts'

/** Shows the v2 calls of a v1 request without sending them. */
export const explain: Command = {
  usage: "explain 'METHOD /path?query'",
  summary:
    "Prints the v2 calls of a v1 request as curl lines (token from $TOKEN), its field mask, and the parts that are dropped or unknown. 'grpc package.Service/Method' is a request as well. --guide says all of an operation.",
  args: ['METHOD /path?query'],
  // Without quotes, these are two arguments.
  optional: ['/path?query'],
  flags: {
    data: {
      help: 'File with the request body, - for standard input, or the body itself if it begins with {. The message of a gRPC call may also be bytes in hex or base64',
      value: 'FILE|-',
    },
    type: { help: `Content type of that body. v1 reads it if the path has no POST. Default: ${FORM}, as curl sends it`, value: 'TYPE' },
    override: { help: 'Value of the header x-http-method-override', value: 'METHOD' },
    guide: {
      help: 'Print how its callers move to v2, in Markdown. The argument is then an operation id, or a pattern with *',
      switch: true,
    },
    ...guideFlags,
    json: { help: 'Print one JSON object', switch: true },
    ...callFlags,
  },
  async run(flags, words, io) {
    const line = words.join(' ')
    const config = configOf(flags, io)
    checkGuideFlags(flags)
    if (flags.guide) return guide(line.trim(), config, flags, io)
    const [method = '', target = '', ...rest] = line.trim().split(/\s+/)
    if (method === 'grpc' && rest.length === 0) return explainGrpc(target, config, flags, io)
    if (rest.length > 0 || !target.startsWith('/')) return endWith(io, MISUSED, `"${line}" is not of the form 'METHOD /path?query'.`)
    const body = await bodyOf(flags, io)
    const sent = { method: method.toUpperCase(), url: target, headers: headersOf(flags), ...(body !== undefined && { body }) }
    const tables = await io.tables()
    const place = createRouteRecorded(tables.mappings)(sent)
    if (place.kind !== 'operation') return endWith(io, FAILED, whyNot(place, sent, tables))
    const explanation = explainRequest(place.operation, place.request, compatSettings(config), tables)
    const base = config['upstream.v2'] ?? DEFAULT_BASE
    print(io, flags, jsonReport(base, explanation), () => textReport(base, explanation))
    return 0
  },
}

/** Shows what a gRPC call becomes, without sending it. The descriptors are loaded here alone: no other command needs them. */
async function explainGrpc(name: string, config: Config, flags: Flags, io: Io): Promise<number> {
  const message = await messageOf(flags, io)
  if (message === undefined) return endWith(io, MISUSED, 'The --data of a gRPC call is JSON, hex, base64, - or the name of a file.')
  const [{ sharedRpc }, { grpcHead, grpcLines, grpcReport, grpcSubject }] = await Promise.all([
    import('../../../grpc/proto-files.ts'),
    import('../../../tools/explain-grpc.ts'),
  ])
  const tables = await io.tables()
  const rpc = sharedRpc(operationsOf(tables))
  let subject: GrpcSubject
  try {
    subject = grpcSubject(rpc, name, message, { v2Grpc: config['upstream.v2Grpc'], v2beta1: config['grpc.v2beta1'] })
  } catch (thrown) {
    const { code, message: said } = asApiError(thrown)
    return endWith(io, FAILED, `The call is answered ${code}: ${said}.`)
  }
  if (subject.kind === 'other') {
    const { sentence } = subject
    print(io, flags, { grpc: { method: name, sentence } }, () => [`# ${sentence}`])
    return 0
  }
  const { method, url, body } = subject
  const sent = { method, url, headers: { 'content-type': 'application/json' }, ...(body !== undefined && { body }) }
  const place = createRouteRecorded(tables.mappings)(sent)
  if (place.kind !== 'operation') return endWith(io, FAILED, `The call names no resource: ${method} ${url} is another request of v1.`)
  const explanation = explainRequest(place.operation, place.request, { ...compatSettings(config), dialect: 'published' }, tables)
  const base = config['upstream.v2'] ?? DEFAULT_BASE
  const report = { ...jsonReport(base, explanation), grpc: grpcReport(rpc, subject, explanation) }
  const head = grpcHead(subject)
  print(io, flags, report, () => [head, ...textReport(base, explanation), ...grpcLines(rpc, base, explanation)])
  return 0
}

async function guide(pattern: string, config: Config, flags: Flags, io: Io): Promise<number> {
  const tables = await io.tables()
  const operations = operationsOf(tables)
  const covered = operations.filter(({ id }) => covers(pattern, id))
  const ids = operations.map(({ id }) => id)
  if (covered.length > 0)
    return writeGuide(operationGuide(covered, `Move ${pattern} from v1 to v2`, guideContext(config, tables)), flags, io)
  return endWith(io, MISUSED, `No operation is called "${pattern}"; ${suggestion(pattern, ids, 'crosswalk operations lists them.')}`)
}

function headersOf(flags: Flags) {
  const override = textOf(flags, 'override')
  return { 'content-type': textOf(flags, 'type') ?? FORM, ...(override !== undefined && { 'x-http-method-override': override }) }
}

/** Says in one sentence why no operation answers the request. */
function whyNot(
  place: Exclude<RecordedRoute, { readonly kind: 'operation' }>,
  { method, url }: { readonly method: string; readonly url: string },
  tables: Tables,
): string {
  if (place.kind === 'native') return `${url} is not a v1 path: the proxy passes it on to v2 unchanged.`
  if (place.kind === 'refused') return `${place.operation.id} answers 400: ${place.error.message}.`
  if (place.error) return `${url} is answered 400: ${place.error.message}.`
  if (place.kind === 'unknown' && place.why === 'another method')
    return `v1 knows ${pathOf(url)}, but not with ${method}: it answers 501 Method Not Allowed, or upstream.v1 answers.`
  const paths = operationsOf(tables).flatMap(({ template }) => (template.includes('{') ? [] : [template]))
  const near = suggestion(pathOf(url), paths, '')
  return `v1 has no operation at ${pathOf(url)}: it answers 404 Not Found, or upstream.v1 does${near === '' ? '.' : `; ${near}`}`
}

async function bodyOf(flags: Flags, io: Io): Promise<string | undefined> {
  const source = textOf(flags, 'data')
  if (source === undefined) return undefined
  if (source === '-') return io.stdin()
  return isJson(source) ? source : (await fileWithin(source, MOST)).toString()
}

/** A body that stands on the command line itself. */
function isJson(source: string): boolean {
  return source.trimStart().startsWith('{')
}

/** Bytes of a body in a file: four times what a proxy takes by default. */
const MOST = 16 * 2 ** 20

const HEX = /^(?:[\da-f]{2})+$/i
const BASE64 = /^[\w+/-]+={0,2}$/

/** Returns the message of a gRPC call; undefined if the flag names none. */
async function messageOf(flags: Flags, io: Io): Promise<Buffer | undefined> {
  const source = textOf(flags, 'data') ?? '{}'
  if (source === '-') return Buffer.from((await io.stdin()).trim())
  if (isJson(source)) return Buffer.from(source.trim())
  if (existsSync(source)) return fileWithin(source, MOST)
  if (HEX.test(source)) return Buffer.from(source, 'hex')
  return BASE64.test(source) ? Buffer.from(source, 'base64') : undefined
}
