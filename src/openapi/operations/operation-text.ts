import type { Dialect } from '../../tables/uid.ts'
import type { DescribedOperation } from '../described-operation.ts'
import { spelled } from './path-of.ts'
import type { RefusalSettings } from './responses.ts'

/** Returns a short title: `iam.role_bindings.create_batch` is "Role bindings: create batch". */
export function summaryOf({ id }: DescribedOperation): string {
  const [, ...words] = id.split('.').map((word) => word.replaceAll('_', ' '))
  const [subject = '', ...rest] = words
  return [subject.charAt(0).toUpperCase() + subject.slice(1), ...rest].join(': ')
}

/** Returns what the tables know of an operation, a sentence each. */
export function descriptionOf(operation: DescribedOperation, settings: RefusalSettings & { readonly dialect: Dialect }): string {
  return [
    servedText(operation),
    ...rowsText(operation),
    ...missingText(operation, settings),
    ...writeText(operation, settings.dialect),
  ].join(' ')
}

function servedText({ kind, because, answer }: DescribedOperation): string {
  if (kind === 'v1-only') {
    const known = answer ? '' : ' Its query and bodies are not described here.'
    return `Only a v1 service answers: ${because}. Without one (upstream.v1) the answer is 501.${known}`
  }
  if (kind === 'emulated') return `Crosswalk approximates the answer from v2: ${because}.`
  return kind === 'composed' ? 'Crosswalk composes the answer of several calls to v2.' : 'v2 serves this operation.'
}

function rowsText({ rows, windowOf }: DescribedOperation): readonly string[] {
  if (!rows) return []
  if (windowOf?.(new Map()).take !== undefined) return ['It answers one page.']
  return ['It answers all rows, unless the query asks for some of them.']
}

function missingText({ missing, rows, kind }: DescribedOperation, { notFound }: RefusalSettings): readonly string[] {
  if (kind === 'v1-only' || notFound === 'error') return []
  if (missing === 'done') return ['It succeeds if there is nothing to delete.']
  if (missing === 'error') return []
  return [rows ? 'If nothing is found, there are no rows.' : 'If nothing is found, every member of the answer is unset.']
}

function writeText({ mask, fieldName, takes, takesNoToken }: DescribedOperation, dialect: Dialect): readonly string[] {
  const kept = typeof mask === 'object' ? (mask.whenSet ?? []).map((path) => spelled(fieldName(path), dialect)) : []
  return [
    ...(mask
      ? [`It replaces the whole: a member that the body omits is reset${kept.length > 0 ? `, but for ${kept.join(', ')}` : ''}.`]
      : []),
    ...(takes === 'below' ? ['What is below goes too.'] : []),
    ...(takesNoToken ? ['It needs no token.'] : []),
  ]
}
