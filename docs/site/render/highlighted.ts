import { createRequire } from 'node:module'
import { escaped } from './escaped.ts'

/** What is used of highlight.js. Its own types would bring those of browsers into every file of the program. */
interface Highlighter {
  getLanguage(name: string): unknown
  highlight(code: string, options: { readonly language: string; readonly ignoreIllegals: true }): { readonly value: string }
}

const require = createRequire(import.meta.url)
const highlighter: Highlighter = require('highlight.js/lib/common')

/** Returns code as HTML with a class for each kind of word. An unknown language stays plain. */
export function highlighted(code: string, language: string): string {
  if (!highlighter.getLanguage(language)) return escaped(code)
  return highlighter.highlight(code, { language, ignoreIllegals: true }).value
}
