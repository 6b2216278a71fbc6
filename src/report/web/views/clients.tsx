import { useState } from 'preact/hooks'
import type { Client } from '../../../diff/clients/client.ts'
import { guideCommand } from '../../../diff/clients/guide-command.ts'
import type { Report } from '../../report.ts'
import { CopyButton } from '../copy-button.tsx'
import { count, many, time } from '../format.ts'
import { hashOf } from '../route.ts'
import { Icon } from '../verdict.tsx'
import { VirtualList } from './virtual-list.tsx'

/** Lists the clients, and says which of them could call v2 itself today. */
export function Clients({ report }: { readonly report: Report }) {
  const [selected, select] = useState(0)
  const { clients, uncounted } = report
  if (clients.length === 0) return <p class="empty">No client was recorded yet.</p>
  const movable = clients.filter(({ couldMove }) => couldMove).length
  const most = Math.max(...clients.map(({ calls }) => calls))
  const client = clients[selected]
  return (
    <>
      <p class="lead">
        {many(clients.length, 'client')}; {count(movable)} could call v2 themselves today, {count(clients.length - movable)} use something
        that only v1 has.
      </p>
      {uncounted > 0 && <p class="quiet">{many(uncounted, 'call')} of further clients are not told apart.</p>}
      <div class="split">
        <VirtualList
          items={clients}
          label={`${many(clients.length, 'client')}, most calls first`}
          selected={selected}
          onSelect={select}
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
        <Icon name={one.couldMove ? 'inside' : 'v1-only'} />
        <code>{one.subject ?? one.caller}</code>
        <span class="visually-hidden">{one.couldMove ? 'could move' : 'needs v1'}</span>
      </span>
      <span class="client-calls">
        <svg class="share" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
          <rect width={Math.max(1, (one.calls / most) * 100)} height="6" />
        </svg>
        <span class="quiet">
          {many(one.calls, 'call')}
          {one.mismatches > 0 && `, ${many(one.mismatches, 'mismatch', 'mismatches')}`}
        </span>
      </span>
    </>
  )
}

function ClientDetail({ client }: { readonly client: Client }) {
  const { caller, subject, calls, lastSeen, operations, couldMove, blockers, cautions } = client
  return (
    <div class="client">
      <h2>
        <code>{subject ?? caller}</code>
      </h2>
      <p>
        <span class={`chip is-${couldMove ? 'inside' : 'v1-only'}`}>
          <Icon name={couldMove ? 'inside' : 'v1-only'} />
          {couldMove ? 'Could move to v2 today' : 'Needs v1'}
        </span>{' '}
        {many(calls, 'call')}, last seen {time(lastSeen)}
        {subject !== undefined && (
          <>
            , hash <code>{caller}</code>
          </>
        )}
      </p>
      <p>
        What it must change to call v2 itself: <code>{guideCommand(client)}</code>{' '}
        <CopyButton text={guideCommand(client)} what="the command that prints the guide" />
      </p>
      <Sentences title="In the way" sentences={blockers} />
      <Sentences title="To look at first" sentences={cautions} />
      <div class="table">
        <table>
          <thead>
            <tr>
              <th scope="col">Operation</th>
              <th scope="col" class="number">
                Calls
              </th>
              <th scope="col" class="number">
                Mismatches
              </th>
              <th scope="col">Modes</th>
              <th scope="col">Last seen</th>
            </tr>
          </thead>
          <tbody>
            {operations.map((use) => (
              <tr key={use.operation}>
                <th scope="row">
                  <a href={hashOf({ view: 'operation', operation: use.operation })}>{use.operation}</a>
                </th>
                <td class="number">{count(use.calls)}</td>
                <td class="number">{count(use.mismatches)}</td>
                <td>{use.modes.join(', ')}</td>
                <td>{time(use.lastSeen).slice(0, 16)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  )
}

function Sentences({ title, sentences }: { readonly title: string; readonly sentences: readonly string[] }) {
  if (sentences.length === 0) return null
  return (
    <>
      <h3>{title}</h3>
      <ul>
        {sentences.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
    </>
  )
}
