import { Failure } from './failure.ts'

const DEFAULT_SIZE = 50

interface Paged {
  readonly pageSize: number
  readonly pageToken: string
}

/** Returns one page of rows under a name, and the token of the next page if there is one. Tokens of one version mean nothing to the other. */
export function pageOf(version: string, name: string, rows: readonly unknown[], { pageSize, pageToken }: Paged): unknown {
  const start = pageToken === '' ? 0 : startOf(version, pageToken)
  const end = start + (pageSize || DEFAULT_SIZE)
  const shown = rows.slice(start, end)
  return { ...(shown.length > 0 && { [name]: shown }), ...(end < rows.length && { nextPageToken: tokenOf(version, end) }) }
}

/** Reads the page that a query asks for. */
export function pageIn(query: URLSearchParams): Paged {
  return { pageSize: Number(query.get('pageSize') ?? 0), pageToken: query.get('pageToken') ?? '' }
}

function tokenOf(version: string, start: number): string {
  return Buffer.from(`${version} ${start}`).toString('base64url')
}

function startOf(version: string, token: string): number {
  const [issuer, start] = Buffer.from(token, 'base64url').toString().split(' ')
  if (issuer !== version || !start) throw new Failure('INVALID_ARGUMENT', 'page token is not valid')
  return Number(start)
}

/**
 * Returns a test of rows by a query such as `state:ACTIVE labels.color:red`: every term must hold. `texts` gives the value of a term's
 * name in a row; a name that it does not know is refused. Values compare without case, and may end with `*`.
 */
export function matcher<Row>(query: string, texts: (row: Row, name: string) => string | undefined): (row: Row) => boolean {
  const terms = query.split(/\s+/).filter(Boolean)
  return (row) =>
    terms.every((term) => {
      const [name = '', wanted = ''] = term.split(/[:=](.*)/)
      const value = texts(row, name)
      if (value === undefined) throw new Failure('INVALID_ARGUMENT', `${name} is not a field of the query`)
      const plain = wanted.toLowerCase()
      return plain.endsWith('*') ? value.toLowerCase().startsWith(plain.slice(0, -1)) : value.toLowerCase() === plain
    })
}
