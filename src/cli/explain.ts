import { readFile } from 'node:fs/promises'
import { differencesOf } from '../../mappings/differences.ts'
import { mappings } from '../../mappings/index.ts'
import { compatSettings } from '../config/parts.ts'
import type { Config } from '../config/settings.ts'
import { explain as explainRequest } from '../explain/explain.ts'
import { jsonReport, textReport } from '../explain/report.ts'
import type { V1Request } from '../mapping/operation.ts'
import { createClassify } from '../routes/classify.ts'
import { parseJson } from '../routes/json-text.ts'
import { parseQuery, searchOf } from '../routes/query.ts'
import { createRouter, type Match } from '../translate/router.ts'
import { type Command, FAILED, type Flags, type Io, MISUSED, textOf } from './command.ts'
import { configFlags, configFrom } from './config-flags.ts'

const DEFAULT_BASE = 'http://127.0.0.1:8090'

/** Shows what a v1 request becomes, without sending it. */
export const explain: Command = {
  usage: "explain 'METHOD /path?query'",
  summary: 'Prints the v2 calls of a v1 request as curl lines (token from $TOKEN), its mask, and what is dropped or cannot be known.',
  args: ['METHOD /path?query'],
  flags: {
    data: { help: 'A file with the request body, or - for standard input' },
    json: { help: 'One JSON object', switch: true },
    ...configFlags(['upstream.v2', 'v1.dialect', 'v2.maskCase', 'v2.replaceMask', 'registry.readmes']),
  },
  async run(flags, [line = ''], io) {
    const loaded = configFrom(flags, io)
    if ('problem' in loaded) return misused(io, loaded.problem)
    const [method = '', target = '', ...rest] = line.trim().split(/\s+/)
    if (rest.length > 0 || !target.startsWith('/')) return misused(io, `"${line}" is not of the form 'METHOD /path?query'.`)
    const match = find(method.toUpperCase(), target)
    if (typeof match === 'string') {
      io.err(match)
      return FAILED
    }
    const request = { params: match.params, query: parseQuery(searchOf(target)), body: parseJson(await bodyOf(flags, io)) }
    report(match, request, loaded.config, flags, io)
    return 0
  },
}

type Found = Exclude<Match, string | undefined>

/** The operation that answers, or a sentence why there is none. */
function find(method: string, target: string): Found | string {
  const to = createClassify(mappings)(target)
  if (to.kind === 'native') return `${target} is not a v1 path: the proxy passes it on to v2 unchanged.`
  if (to.kind === 'refused') return `${target} is answered 400: ${to.error.message}.`
  const match = createRouter(mappings.flatMap(({ operations }) => operations)).match(method, to.path)
  if (match === 'other-method') return `v1 knows ${to.path}, but not with ${method}: it answers 501 Method Not Allowed.`
  return match ?? `v1 has no operation at ${to.path}: it answers 404 Not Found, or upstream.v1 does.`
}

async function bodyOf(flags: Flags, io: Io): Promise<string> {
  const source = textOf(flags, 'data')
  if (source === undefined) return ''
  return source === '-' ? io.stdin() : readFile(source, 'utf8')
}

function report({ operation }: Found, request: V1Request, config: Config, flags: Flags, io: Io): void {
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
