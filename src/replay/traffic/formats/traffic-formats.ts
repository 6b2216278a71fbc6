import { suggestion } from '../../../tables/check.ts'
import type { Format } from '../recorded-traffic.ts'
import { createReadJson, ENVOY_JSON, FIELD_NAMES, type JsonFields, KONG, TRAEFIK } from './json-line.ts'
import type { ReadLine } from './line-parts.ts'
import { readAlbLine, readEnvoyLine, readLogLine } from './log-line.ts'
import { readNginxFormat } from './nginx-format.ts'
import { readRecordLine } from './record-lines.ts'

/** The formats of lines that are recognized, in the order in which they are tried: the lines of a program with more marks come first. */
export const LINE_FORMATS = {
  traefik: { about: "Traefik's access log in JSON", read: createReadJson(TRAEFIK, ['RequestMethod']) },
  kong: { about: "Kong's file-log and http-log", read: createReadJson(KONG, ['request.uri']) },
  'envoy-json': { about: "Envoy's JSON with the names of Istio or Envoy Gateway", read: createReadJson(ENVOY_JSON, ['response_code']) },
  records: { about: 'records or a log of Crosswalk', read: readRecordLine },
  'access-log': { about: 'a combined or common access log (Apache, nginx, Traefik)', read: readLogLine },
  envoy: { about: "Envoy's default text", read: readEnvoyLine },
  alb: { about: 'the access log of an AWS Application Load Balancer', read: readAlbLine },
} as const satisfies Partial<Record<Format, { readonly about: string; readonly read: ReadLine }>>

const KNOWN = Object.keys(LINE_FORMATS) as (keyof typeof LINE_FORMATS)[]

/** How to read lines, under the name of its format. */
export interface LineReader {
  readonly format: Exclude<Format, 'har'>
  readonly read: ReadLine
}

/** Returns the reader that reads one of the first lines. The first line may be torn or from another program, but not all of them. */
export function recognized(lines: readonly string[]): LineReader | undefined {
  const format = KNOWN.find((name) => lines.some((line) => LINE_FORMATS[name].read(line) !== undefined))
  return format && { format, read: LINE_FORMATS[format].read }
}

/** Says what a file may be. */
export function formatsText(): string {
  const known = KNOWN.map((name) => `${name} (${LINE_FORMATS[name].about})`)
  return `The formats are har (an HTTP archive), ${known.join(', ')}. Give JSON with --fields, and a log_format of nginx with --format.`
}

/**
 * Returns the reader that the flags of a person name, undefined if they name none, or a sentence about what is wrong with them:
 * `chosenReader('$remote_addr "$request" $status', undefined)`, `chosenReader('alb', undefined)`, `chosenReader(undefined, 'method=m,path=p')`.
 */
export function chosenReader(
  format: string | undefined,
  fields: string | undefined,
): LineReader | undefined | { readonly problem: string } {
  if (format !== undefined && fields !== undefined) return { problem: '--format and --fields describe the same lines; give one of them.' }
  if (fields !== undefined) return fieldsReader(fields)
  if (format === undefined) return undefined
  if (format.includes('$')) {
    const made = readNginxFormat(format)
    return 'problem' in made ? { problem: `--format cannot be read: ${made.problem}` } : { format: 'nginx', read: made.read }
  }
  const name = KNOWN.find((known) => known === format)
  if (name) return { format: name, read: LINE_FORMATS[name].read }
  return { problem: `--format ${JSON.stringify(format)} is unknown; ${suggestion(format, KNOWN, formatsText())}` }
}

const FORM = 'method=req.method,path=req.url,status=res.status'

function fieldsReader(text: string): LineReader | { readonly problem: string } {
  const fields: Partial<Record<keyof JsonFields, readonly string[]>> = {}
  for (const pair of text.split(',')) {
    const [given = '', member = '', ...rest] = pair.split('=').map((part) => part.trim())
    const name = FIELD_NAMES.find((known) => known === given)
    if (!name || member === '' || rest.length > 0) {
      return { problem: `--fields must be pairs such as ${FORM}, of ${FIELD_NAMES.join(', ')}; ${JSON.stringify(pair)} is none.` }
    }
    fields[name] = [...(fields[name] ?? []), member]
  }
  const hasTarget = fields.request !== undefined || (fields.method !== undefined && fields.path !== undefined)
  if (!hasTarget) return { problem: `--fields must name method and path, or request: ${FORM}.` }
  return { format: 'json', read: createReadJson(fields) }
}
