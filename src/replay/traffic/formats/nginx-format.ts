import { type LineParts, type ReadLine, requestFrom, requestLine } from './line-parts.ts'

type Variable = (value: string) => Partial<Record<keyof LineParts | 'query', string | undefined>>

/** The variables of nginx that are read. Every other one is skipped. */
const VARIABLES: Readonly<Record<string, Variable>> = {
  request: requestLine,
  request_method: (method) => ({ method }),
  request_uri: (target) => ({ target }),
  uri: (target) => ({ target }),
  document_uri: (target) => ({ target }),
  args: (query) => ({ query }),
  query_string: (query) => ({ query }),
  status: (status) => ({ status }),
  time_local: (time) => ({ time }),
  time_iso8601: (time) => ({ time }),
  msec: (time) => ({ time }),
  content_type: (type) => ({ type }),
  http_content_type: (type) => ({ type }),
}

/** Variables that name the client, weakest first. */
const CLIENTS = ['remote_addr', 'proxy_protocol_addr', 'http_x_forwarded_for', 'remote_user']

/** Variables of which one must tell the target, and one the method. */
const TARGETS = ['request', 'request_uri', 'uri', 'document_uri']
const METHODS = ['request', 'request_method']

interface FormatParts {
  /** The text before the first variable, and after each. */
  readonly texts: readonly string[]
  readonly names: readonly string[]
}

/** Makes a reader of a format of nginx (`log_format`), or returns a sentence about a format that cannot be read. */
export function readNginxFormat(format: string): { readonly read: ReadLine } | { readonly problem: string } {
  const parts = partsOf(format)
  const { texts, names } = parts
  const joined = names.findIndex((_, at) => at > 0 && texts[at] === '')
  if (joined >= 0)
    return { problem: `$${names[joined - 1]} and $${names[joined]} have no text between them, so that nobody can tell them apart.` }
  if (!names.some((name) => TARGETS.includes(name))) return { problem: '$request or $request_uri is missing, so that no path is known.' }
  if (!names.some((name) => METHODS.includes(name)))
    return { problem: '$request or $request_method is missing, so that no method is known.' }
  return {
    read(line) {
      const values = valuesIn(line, parts)
      const request = values && requestFrom(combined(names, values))
      return request && [request]
    },
  }
}

function partsOf(format: string): FormatParts {
  const texts: string[] = []
  const names: string[] = []
  let from = 0
  for (const { 0: found, 1: bare, 2: braced, index } of format.matchAll(/\$(?:([a-z_]\w*)|\{([a-z_]\w*)\})/gi)) {
    texts.push(format.slice(from, index))
    names.push(bare ?? braced ?? '')
    from = index + found.length
  }
  return { texts: [...texts, format.slice(from)], names }
}

/** Returns the values of the variables, from one text of the format to the next. It looks at each character once. */
function valuesIn(line: string, { texts, names }: FormatParts): readonly string[] | undefined {
  const [first = '', ...others] = texts
  if (!line.startsWith(first)) return undefined
  const values: string[] = []
  let from = first.length
  for (const [at, text] of others.entries()) {
    const end = text === '' ? line.length : endOf(line, text, from)
    if (end < 0 || (text === '' && at < names.length - 1)) return undefined
    values.push(line.slice(from, end))
    from = end + text.length
  }
  return values
}

/** Returns where a text begins. A quote behind a backslash belongs to the value before it. */
function endOf(line: string, text: string, from: number): number {
  let at = line.indexOf(text, from)
  while (at > from && text.startsWith('"') && line[at - 1] === '\\') at = line.indexOf(text, at + 1)
  return at
}

function combined(names: readonly string[], values: readonly string[]): LineParts {
  const given = new Map(names.map((name, at) => [name, values[at] ?? '']))
  const read = Object.assign({}, ...names.map((name, at) => VARIABLES[name]?.(values[at] ?? ''))) as ReturnType<Variable>
  const { query = '', target, ...parts } = read
  const client = CLIENTS.map((name) => given.get(name)).findLast((one) => one && one !== '-')
  const isWhole = target === undefined || target.includes('?') || query === '' || query === '-'
  return { ...parts, client, target: isWhole ? target : `${target}?${query}` }
}
