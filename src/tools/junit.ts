import { escapeHtml } from './html.ts'

/** One answer of a command, as CI shows it. */
export interface JunitCase {
  readonly name: string
  /** `unknown`: it could not be asked. */
  readonly outcome: 'passed' | 'failed' | 'skipped' | 'unknown'
  /** Why it did not pass. */
  readonly text?: string
}

const ELEMENTS = { failed: 'failure', skipped: 'skipped', unknown: 'error' } as const

/** Writes answers in the form of JUnit, which CI systems show as tests. Nobody has specified it; this is the part that all of them read. */
export function junitText(suite: string, cases: readonly JunitCase[]): string {
  const sums = Object.entries({ failures: 'failed', errors: 'unknown', skipped: 'skipped' }).map(
    ([name, outcome]) => `${name}="${cases.filter((one) => one.outcome === outcome).length}"`,
  )
  const head = `name="${escaped(suite)}" tests="${cases.length}" ${sums.join(' ')}`
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites>',
    `  <testsuite ${head}>`,
    ...cases.map((one) => `    ${caseText(suite, one)}`),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

function caseText(suite: string, { name, outcome, text = '' }: JunitCase): string {
  const head = `testcase classname="${escaped(suite)}" name="${escaped(name)}"`
  return outcome === 'passed' ? `<${head}/>` : `<${head}><${ELEMENTS[outcome]} message="${escaped(text)}"/></testcase>`
}

/** XML 1.0 has no form of other control characters, and none of half a surrogate pair. */
const UNWRITABLE = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu

function escaped(text: string): string {
  return escapeHtml(text.replace(UNWRITABLE, '\ufffd'))
}
