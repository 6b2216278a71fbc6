import { readFile } from 'node:fs/promises'
import { differencesOf } from '../../../mappings/differences.ts'
import { mappings } from '../../../mappings/index.ts'
import { compatSettings } from '../../config/parts.ts'
import type { Config } from '../../config/settings.ts'
import { explain as explainRequest } from '../../explain/explain.ts'
import { jsonReport, textReport } from '../../explain/explanation-text.ts'
import { createRouteRecorded, type RecordedRoute } from '../../replay/route-recorded.ts'
import { pathOf } from '../../request/classify.ts'
import { FORM } from '../../request/route-request.ts'
import { type Command, FAILED, type Flags, type Io, MISUSED, textOf } from '../command.ts'
import { configFlags, configFrom } from '../config-flags.ts'

const DEFAULT_BASE = 'http://127.0.0.1:8090'

/** Shows the v2 calls of a v1 request without sending them. */
export const explain: Command = {
  usage: "explain 'METHOD /path?query'",
  summary:
    'Prints the v2 calls of a v1 request as curl lines (token from $TOKEN), its field mask, and the parts that are dropped or unknown.',
  args: ['METHOD /path?query'],
  flags: {
    data: { help: 'File with the request body, or - for standard input' },
    type: { help: `Content type of that body. v1 heeds it if the path has no POST. Default: ${FORM}, as curl sends it` },
    override: { help: 'Value of the header x-http-method-override' },
    json: { help: 'Print one JSON object', switch: true },
    ...configFlags(['upstream.v2', 'v1.dialect', 'v2.maskCase', 'v2.replaceMask', 'registry.readmes']),
  },
  async run(flags, [line = ''], io) {
    const loaded = configFrom(flags, io)
    if ('problem' in loaded) return misused(io, loaded.problem)
    const [method = '', target = '', ...rest] = line.trim().split(/\s+/)
    if (rest.length > 0 || !target.startsWith('/')) return misused(io, `"${line}" is not of the form 'METHOD /path?query'.`)
    const body = await bodyOf(flags, io)
    const sent = { method: method.toUpperCase(), url: target, headers: headersOf(flags), ...(body !== undefined && { body }) }
    const place = createRouteRecorded(mappings)(sent)
    if (place.kind !== 'operation') {
      io.err(whyNot(place, sent))
      return FAILED
    }
    report(place, loaded.config, flags, io)
    return 0
  },
}

type Found = Extract<RecordedRoute, { readonly kind: 'operation' }>

function headersOf(flags: Flags) {
  const override = textOf(flags, 'override')
  return { 'content-type': textOf(flags, 'type') ?? FORM, ...(override !== undefined && { 'x-http-method-override': override }) }
}

/** Says in one sentence why no operation answers the request. */
function whyNot(place: Exclude<RecordedRoute, Found>, { method, url }: { readonly method: string; readonly url: string }): string {
  if (place.kind === 'native') return `${url} is not a v1 path: the proxy passes it on to v2 unchanged.`
  if (place.kind === 'refused') return `${place.operation.id} answers 400: ${place.error.message}.`
  if (place.error) return `${url} is answered 400: ${place.error.message}.`
  if (place.kind === 'unknown' && place.why === 'another method')
    return `v1 knows ${pathOf(url)}, but not with ${method}: it answers 501 Method Not Allowed, or upstream.v1 answers.`
  return `v1 has no operation at ${pathOf(url)}: it answers 404 Not Found, or upstream.v1 does.`
}

async function bodyOf(flags: Flags, io: Io): Promise<string | undefined> {
  const source = textOf(flags, 'data')
  if (source === undefined) return undefined
  return source === '-' ? io.stdin() : readFile(source, 'utf8')
}

function report({ operation, request }: Found, config: Config, flags: Flags, io: Io): void {
  const env = compatSettings(config)
  const explanation = explainRequest(operation, request, env, mappings, differencesOf)
  const base = config['upstream.v2'] ?? DEFAULT_BASE
  if (flags.json) io.text(JSON.stringify(jsonReport(base, explanation), null, 2))
  else for (const line of textReport(base, explanation)) io.out(line)
}

function misused(io: Io, problem: string): number {
  io.err(problem)
  return MISUSED
}
