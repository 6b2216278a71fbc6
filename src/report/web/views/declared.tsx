import { useState } from 'preact/hooks'
import type { DeclarationRow, Report } from '../../report.ts'
import { count } from '../format.ts'
import { ScrollTable } from '../tables/scroll-table.tsx'

const STATES: Readonly<Record<DeclarationRow['state'], { readonly word: string; readonly meaning: string }>> = {
  matched: { word: 'Seen', meaning: 'It explained differences.' },
  stale: { word: 'Stale', meaning: 'It explained nothing: is it still true, or is there no traffic for it?' },
  expired: {
    word: 'Expired',
    meaning: 'The date of its rule in diff.ignore is over, and it explains nothing any more: mend it or give a new date.',
  },
  invisible: { word: 'Invisible', meaning: 'It shows in writes alone, and cannot be found by comparing.' },
}

/** First what somebody should look at. */
const ORDER = ['expired', 'stale', 'matched', 'invisible'] as const

/** Lists the declared differences, and says which of them really occur. */
export function Declared({ report }: { readonly report: Report }) {
  const [text, setText] = useState('')
  const wanted = text.trim().toLowerCase()
  const fitting = report.declarations.filter(({ code, seen, because }) => `${code} ${seen} ${because}`.toLowerCase().includes(wanted))
  if (report.declarations.length === 0) return <p>No difference is declared.</p>
  return (
    <>
      <search class="filter">
        <input
          type="search"
          aria-label="Find a declared difference"
          placeholder="Find by code or words"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <span role="status" class="quiet">
          {wanted !== '' && `${count(fitting.length)} of ${count(report.declarations.length)} shown`}
        </span>
      </search>
      {ORDER.map((state) => {
        const rows = fitting.filter((one) => one.state === state).sort((a, b) => b.findings - a.findings)
        return rows.length > 0 && <Group key={state} state={state} rows={rows} />
      })}
    </>
  )
}

function Group({ state, rows }: { readonly state: DeclarationRow['state']; readonly rows: readonly DeclarationRow[] }) {
  const { word, meaning } = STATES[state]
  return (
    <section aria-labelledby={state}>
      <h2 id={state}>
        {word} <span class="badge">{count(rows.length)}</span>
      </h2>
      <p class="quiet">{meaning}</p>
      <ScrollTable label={`Table: ${word}`}>
        <table class="declared cards">
          <thead>
            <tr>
              <th scope="col">Code</th>
              <th scope="col">What a client sees</th>
              <th scope="col" class="number">
                Findings
              </th>
              <th scope="col" class="number">
                Comparisons
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ code, seen, because, findings, comparisons }) => (
              <tr key={code}>
                <th scope="row">
                  <code>{code}</code>
                </th>
                <td>
                  {seen}
                  {because !== '' && (
                    <details>
                      <summary class="quiet">Why</summary>
                      {because}
                    </details>
                  )}
                </td>
                <td class="number" data-label="Findings">
                  {count(findings)}
                </td>
                <td class="number" data-label="Comparisons">
                  {count(comparisons)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollTable>
    </section>
  )
}
