import { CODES, type CodeName } from '../../../src/errors.ts'
import type { ErrorGroup, ErrorRow } from './error-row.ts'
import { limitErrors } from './limit-errors.ts'
import { requestErrors } from './request-errors.ts'
import { rpcErrors } from './rpc-errors.ts'
import { serviceErrors } from './service-errors.ts'
import { valueErrors } from './value-errors.ts'

/** Every error of v1 that Crosswalk itself answers. A test compares the texts with the code that makes them. */
export const ERRORS: readonly ErrorGroup[] = [requestErrors, valueErrors, serviceErrors, limitErrors, rpcErrors]

const HEAD = `# Errors

Every error of v1 is a google.rpc.Status: \`{"code": 12, "message": "…", "details": []}\`. The code decides the HTTP status. Programs read the code, and people the message.
This page lists what Crosswalk itself answers. What a service refuses keeps its code, and its words with the names of v1. The admin port's errors say what to change.
In a message, \`…\` stands for a name, a number or a value.

\`npm run docs\` makes this page. A test compares its messages with the code.
`

/** The page of all errors as Markdown. */
export function errorsPage(): string {
  return `${[HEAD, ...ERRORS.map(section), codesSection()].join('\n')}`
}

function section({ title, about, rows }: ErrorGroup): string {
  return [`## ${title}`, '', about, '', '| Message | Code | Cause | What to do |', '|---|---|---|---|', ...rows.map(line), ''].join('\n')
}

function line({ texts, code, cause, remedy }: ErrorRow): string {
  const messages = texts.map((text) => `\`${text}\``).join('<br>')
  return `| ${messages} | ${code === undefined ? 'see the cause' : code} | ${cause} | ${remedy} |`
}

function codesSection(): string {
  const names = Object.keys(CODES) as CodeName[]
  const rows = names.filter((name) => name !== 'OK').map((name) => `| ${name} | ${CODES[name].number} | ${CODES[name].http} |`)
  return ['## Codes', '', '| Name | Code | HTTP status |', '|---|---:|---:|', ...rows, ''].join('\n')
}
