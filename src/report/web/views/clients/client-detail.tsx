import { type Client, guideCommand } from '../../../../migrate/clients.ts'
import { CopyButton } from '../../copy-button.tsx'
import { count, many, time } from '../../format.ts'
import { hashOf } from '../../route.ts'
import { Dotted } from '../../tables/dotted.tsx'
import { ScrollTable } from '../../tables/scroll-table.tsx'
import { Icon } from '../../verdict.tsx'
import { MOVES, moveOf } from './moves.ts'

/** Shows what one client calls, and what keeps it from calling v2 itself. */
export function ClientDetail({ client }: { readonly client: Client }) {
  const { caller, subject, calls, lastSeen, operations, blockers, cautions } = client
  const move = MOVES[moveOf(client)]
  return (
    <div class="client">
      <h2>
        <code>{subject ?? caller}</code>
      </h2>
      <p>
        <span class={`chip is-${move.icon}`} title={move.meaning}>
          <Icon name={move.icon} />
          {move.word}
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
      <ScrollTable label="What it calls">
        <table class="cards">
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
                  <a href={hashOf({ view: 'operation', operation: use.operation })}>
                    <Dotted name={use.operation} />
                  </a>
                </th>
                <td class="number" data-label="Calls">
                  {count(use.calls)}
                </td>
                <td class={`number ${use.mismatches > 0 ? 'wrong' : ''}`} data-label="Mismatches">
                  {count(use.mismatches)}
                </td>
                <td data-label="Modes">
                  {use.modes.join(', ')}
                  {use.protocols && ` over ${use.protocols.join(', ')}`}
                </td>
                <td data-label="Last seen">{time(use.lastSeen).slice(0, 16)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollTable>
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
