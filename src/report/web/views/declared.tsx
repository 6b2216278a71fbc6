import type { DeclarationRow, Report } from '../../report.ts'
import { count } from '../format.ts'

const STATES: Readonly<Record<DeclarationRow['state'], { readonly word: string; readonly meaning: string }>> = {
  matched: { word: 'Seen', meaning: 'It explained differences.' },
  stale: { word: 'Stale', meaning: 'It explained nothing: is it still true, or is there no traffic for it?' },
  expired: {
    word: 'Expired',
    meaning: 'The date of its rule in diff.ignore is over, and it explains nothing any more: mend it or give a new date.',
  },
  invisible: { word: 'Invisible', meaning: 'It shows in writes alone, and cannot be found by comparing.' },
}

/** Lists the declared differences, and says which of them really occur. */
export function Declared({ report }: { readonly report: Report }) {
  const order = ['expired', 'matched', 'stale', 'invisible'] as const
  return (
    <>
      {order.map((state) => {
        const rows = report.declarations.filter((one) => one.state === state).sort((a, b) => b.findings - a.findings)
        if (rows.length === 0) return null
        return (
          <section key={state} aria-labelledby={state}>
            <h2 id={state}>
              {STATES[state].word} <span class="badge">{count(rows.length)}</span>
            </h2>
            <p class="quiet">{STATES[state].meaning}</p>
            <div class="table">
              <table class="declared">
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
                        {seen} <span class="quiet below">{because}</span>
                      </td>
                      <td class="number">{count(findings)}</td>
                      <td class="number">{count(comparisons)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          </section>
        )
      })}
      {report.declarations.length === 0 && <p>No difference is declared.</p>}
    </>
  )
}
