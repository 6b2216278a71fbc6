import { useState } from 'preact/hooks'
import type { Client } from '../../../../migrate/clients.ts'
import type { Report } from '../../../report.ts'
import { many } from '../../format.ts'
import { Icon } from '../../verdict.tsx'
import { VirtualList } from '../virtual-list.tsx'
import { ClientDetail } from './client-detail.tsx'
import { MOVES, moveOf, summaryOf } from './moves.ts'

/** Lists the clients, and says which of them could call v2 itself today. */
export function Clients({ report }: { readonly report: Report }) {
  const [chosen, choose] = useState<string | undefined>(undefined)
  const { clients, uncounted } = report
  if (clients.length === 0) return <p class="empty">No client was recorded yet.</p>
  const most = Math.max(...clients.map(({ calls }) => calls))
  // A newer report may have the clients in another order.
  const selected = Math.max(
    0,
    clients.findIndex(({ caller }) => caller === chosen),
  )
  const client = clients[selected]
  return (
    <>
      <p class="lead">{summaryOf(clients)}</p>
      {uncounted > 0 && <p class="quiet">{many(uncounted, 'call')} of further clients are not told apart.</p>}
      <div class="split">
        <VirtualList
          items={clients}
          label={`${many(clients.length, 'client')}, most calls first`}
          selected={selected}
          onSelect={(index) => choose(clients[index]?.caller)}
          rem={3.25}
          row={(one) => <ClientRow one={one} most={most} />}
        />
        <section aria-label="The chosen client" aria-live="polite">
          {client && <ClientDetail client={client} />}
        </section>
      </div>
    </>
  )
}

function ClientRow({ one, most }: { readonly one: Client; readonly most: number }) {
  return (
    <>
      <span class="client-name">
        <Icon name={MOVES[moveOf(one)].icon} />
        <code>{one.subject ?? one.caller}</code>
        <span class="visually-hidden">{MOVES[moveOf(one)].word}</span>
      </span>
      <span class="client-calls">
        <svg class="share" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
          <rect width={Math.max(1, (one.calls / most) * 100)} height="6" />
          {one.mismatches > 0 && <rect class="bad" width={Math.max(2, (Math.min(one.mismatches, one.calls) / most) * 100)} height="6" />}
        </svg>
        <span class="quiet">
          {many(one.calls, 'call')}
          {one.mismatches > 0 && `, ${many(one.mismatches, 'mismatch', 'mismatches')}`}
        </span>
      </span>
    </>
  )
}
