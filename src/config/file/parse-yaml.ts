import { createRequire } from 'node:module'
import type * as Yaml from 'yaml'
import { lineAndColumn, type Parsed, wrongAt } from './parsed-file.ts'

/** Reads YAML 1.2. The parser is loaded when the first file needs it. */
export function parseYaml(text: string): Parsed {
  const { isNode, parseDocument } = createRequire(import.meta.url)('yaml') as typeof Yaml
  const document = parseDocument(text, { prettyErrors: false, version: '1.2' })
  const [first] = document.errors
  if (first) return { wrong: wrongAt(text, first.pos[0], `this is no YAML (${first.code.toLowerCase().replaceAll('_', ' ')})`) }
  const value = contentOf(document)
  if (value === undefined) return { wrong: 'an alias (*) names no anchor (&) before it, or too many of them' }
  return {
    value,
    placeOf(path) {
      const node = document.getIn(path, true)
      if (!isNode(node) || !node.range) return undefined
      const { line, column } = lineAndColumn(text, node.range[0])
      return `${line}:${column}`
    },
  }
}

/** A document without a value, such as one of comments alone, is an empty object. Undefined if aliases cannot be resolved. */
function contentOf(document: Yaml.Document): unknown {
  try {
    return document.toJS() ?? {}
  } catch {
    return undefined
  }
}
