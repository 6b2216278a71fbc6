/** One proxy's entry in a `Forwarded` header: names in lower case, values without quotes. */
export type Element = ReadonlyMap<string, string>

/** One parameter and its end: `;` before another parameter of the element, `,` before the next element. */
const PARAMETER = /[ \t]*([\w!#$%&'*+.^`|~-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*))[ \t]*([;,]|$)/y

/** Parses the elements of a `Forwarded` header (RFC 7239 §4). A malformed one has none, because half of it could say anything. */
export function parseForwarded(text: string): readonly Element[] {
  const elements: Map<string, string>[] = []
  let element = new Map<string, string>()
  for (let at = 0; at < text.length; ) {
    PARAMETER.lastIndex = at
    const [whole, name = '', quoted, token = '', end] = PARAMETER.exec(text) ?? []
    if (whole === undefined) return []
    element.set(name.toLowerCase(), quoted?.replace(/\\(.)/g, '$1') ?? token)
    at += whole.length
    if (end === ';') continue
    elements.push(element)
    element = new Map()
  }
  return elements
}

/** Writes parameters as one element; values that are no tokens are quoted. */
export function elementText(parameters: Readonly<Record<string, string>>): string {
  return Object.entries(parameters)
    .map(([name, value]) => `${name}=${/^[\w!#$%&'*+.^`|~-]+$/.test(value) ? value : `"${value.replace(/["\\]/g, '\\$&')}"`}`)
    .join(';')
}
