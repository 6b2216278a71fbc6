import { useState } from 'preact/hooks'
import { type Client, guideCommand, shownClient } from '../../migrate/clients.ts'
import { count, many } from '../../migrate/evidence/evidence.ts'
import { COMPARING } from '../../serve/sides.ts'
import { putModes } from '../report/commands.ts'
import type { Difference } from '../report/difference.ts'
import type { DeclarationRow, OperationReport, Report } from '../report/report.ts'
import { Lanes, type NumberedNote, notesOf, outcomeLanes } from './charts.tsx'
import {
  Chip,
  CopyButton,
  Dotted,
  hashOf,
  Icon,
  Items,
  NumberCell,
  numbers,
  OperationLink,
  Paste,
  StateChip,
  Table,
  VirtualList,
} from './kit.tsx'
import { adminAddress } from './live.tsx'
import { KINDS, MOVES, moveOf, placeOf, summaryOf, time, wordsOf } from './words.ts'

/** Says what to do if no operation was called. */
export function Empty({ report: { read, now } }: { readonly report: Report }) {
  const modes = now ? [now.rules.default, ...now.rules.rules.flatMap(({ mode, canary }) => [mode, canary?.mode ?? mode])] : []
  return (
    <section class="empty">
      <h2>Nothing was recorded yet</h2>
      <p>
        {read.entries === 0 ? 'There is no record. ' : `${many(read.entries, 'record')}, but none of traffic. `}
        {!now && 'Record traffic in a diff mode, and make the report of its records.'}
        {now && !now.hasV1 && 'There is no v1 service to compare with: set upstream.v1 (CROSSWALK_UPSTREAM_V1) and start again.'}
        {now?.hasV1 &&
          (modes.some((mode) => COMPARING.has(mode))
            ? `The default mode is ${now.rules.default}. Send v1 requests through the proxy; this page shows them within seconds.`
            : `The default mode is ${now.rules.default}, in which nothing is compared. Put operations into a diff mode:`)}
      </p>
      {now?.hasV1 && !modes.some((mode) => COMPARING.has(mode)) && (
        <Paste
          name="The command that compares everything"
          text={putModes(adminAddress(), { rules: { ...now.rules, default: 'diff-v1' }, tag: now.tag })}
        />
      )}
    </section>
  )
}

const STATES: Readonly<Record<DeclarationRow['state'], { readonly word: string; readonly meaning: string }>> = {
  matched: { word: 'Seen', meaning: 'It explained differences.' },
  stale: { word: 'Stale', meaning: 'It explained nothing: is it still true, or is there no traffic for it?' },
  expired: {
    word: 'Expired',
    meaning: 'The date of its rule in diff.ignore is over, and it explains nothing any more: fix it or give a new date.',
  },
  invisible: { word: 'Invisible', meaning: 'It shows only in writes, so comparing cannot find it.' },
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
      <Table
        label={`Table: ${word}`}
        kind="declared cards"
        columns={['Code', 'What a client sees', numbers('Findings'), numbers('Comparisons')]}
      >
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
            <NumberCell label="Findings" of={findings} />
            <NumberCell label="Comparisons" of={comparisons} />
          </tr>
        ))}
      </Table>
    </section>
  )
}

/** The table of one operation's differences. */
export function Differences({ operation, report }: { readonly operation: OperationReport; readonly report: Report }) {
  const { differences, furtherDifferences } = operation
  return (
    <section aria-labelledby="differences">
      <h2 id="differences">Differences</h2>
      {differences.length === 0 && <p class="quiet">{operation.n > 0 ? 'Every answer was the same.' : 'Nothing was compared.'}</p>}
      {differences.length > 0 && (
        <Table
          label="Table of differences"
          kind="differences cards"
          columns={['State', 'Where', 'What', 'When', numbers('Comparisons'), numbers('Callers')]}
        >
          {differences.map((one) => (
            <DifferenceRow key={one.key} one={one} operation={operation.operation} report={report} />
          ))}
        </Table>
      )}
      {furtherDifferences > 0 && <p class="quiet">{many(furtherDifferences, 'finding')} of further differences are not kept apart.</p>}
    </section>
  )
}

function DifferenceRow({ one, operation, report }: { readonly one: Difference; readonly operation: string; readonly report: Report }) {
  return (
    <tr>
      <td>
        <StateChip of={one.state} />
        {one.isNew && <span class="chip is-new">New</span>}
      </td>
      <th scope="row">
        <a href={hashOf({ view: 'operation', operation, difference: one.key })}>
          <code>
            <Dotted name={placeOf(one)} />
          </code>
        </a>
      </th>
      <td>
        <strong>{one.kind}</strong> <span class="quiet below">{one.code ?? KINDS[one.kind]}</span>
      </td>
      <td>
        <Ticks one={one} report={report} />
        <span class="quiet below">last {time(one.lastAt).slice(0, 16)}</span>
      </td>
      <NumberCell label="Comparisons" of={one.comparisons} />
      <NumberCell label="Callers" of={one.callers} />
    </tr>
  )
}

const WIDTH = 160

const HEIGHT = 22

/** Draws when a difference occurred, as small bars over the whole span. */
function Ticks({ one, report }: { readonly one: Difference; readonly report: Report }) {
  const { from, to } = report.span ?? { from: 0, to: 1 }
  const most = Math.max(...one.steps.map(([, comparisons]) => comparisons))
  const x = (at: number) => Math.max(0, ((at - from) / Math.max(1, to - from)) * (WIDTH - 3))
  return (
    <svg
      class={`ticks is-${one.state}`}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={`from ${time(one.firstAt)} to ${time(one.lastAt)}`}
    >
      <line x1="0" x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} />
      {one.steps.map(([at, comparisons]) => {
        const height = Math.max(2, (comparisons / most) * (HEIGHT - 2))
        return <rect key={at} x={x(at)} y={HEIGHT - height} width="2.5" height={height} />
      })}
    </svg>
  )
}

/** Events that are named under a chart. */
const MOST = 5

/** Lists events with the numbers that charts show. */
function NoteList({ notes }: { readonly notes: readonly NumberedNote[] }) {
  return (
    <ol class="notes">
      {notes.map((note) => (
        <NoteRow key={note.number} note={note} />
      ))}
    </ol>
  )
}

/** Explains the numbers in the charts above: the last events, and where to find all. */
export function NoteLegend({ notes }: { readonly notes: readonly NumberedNote[] }) {
  if (notes.length === 0) return null
  return (
    <section class="legend" aria-label="The numbers in the charts">
      <NoteList notes={notes.slice(-MOST)} />
      {notes.length > MOST && (
        <p class="quiet">
          The last {MOST} of {notes.length} events; the <a href={hashOf({ view: 'timeline' })}>timeline</a> has all.
        </p>
      )}
    </section>
  )
}

function NoteRow({ note }: { readonly note: NumberedNote }) {
  const { number, at, what, operation } = note
  const { verb, text, change } = wordsOf(note)
  return (
    <li class={`is-${what}`}>
      <span class="number-mark" aria-hidden="true">
        {number}
      </span>
      <div>
        <span class="quiet">{time(at)}</span> <strong>{verb}</strong> {operation !== undefined && <OperationLink operation={operation} />}{' '}
        {text}
        {change && (
          <span class="quiet below">
            from <q>{change.from}</q> to <q>{change.to}</q>
          </span>
        )}
      </div>
    </li>
  )
}

/** Shows what was compared over time, and the changes meanwhile. */
export function TimelineView({ report }: { readonly report: Report }) {
  const notes = notesOf(report)
  return (
    <>
      <Lanes caption="Comparisons of all operations" lanes={outcomeLanes(report.timeline.steps)} report={report} notes={notes} />
      <section aria-labelledby="notes">
        <h2 id="notes">
          What happened <span class="quiet">newest first</span>
        </h2>
        {notes.length === 0 && <p class="quiet">No mode was changed and no circuit opened.</p>}
        <NoteList notes={notes.toReversed()} />
      </section>
    </>
  )
}

/** Shows what one client calls, and what keeps it from calling v2 itself. */
function ClientDetail({ client }: { readonly client: Client }) {
  const { caller, subject, agents, calls, lastSeen, operations, blockers, cautions } = client
  const shown = shownClient(client)
  const move = MOVES[moveOf(client)]
  return (
    <div class="client">
      <h2>
        <code>{shown}</code>
      </h2>
      <p>
        <Chip name={move.icon} {...move} /> {many(calls, 'call')}, last seen {time(lastSeen)}
        {subject !== undefined && subject !== shown && (
          <>
            , subject <code>{subject}</code>
          </>
        )}
        {caller !== shown && (
          <>
            , hash <code>{caller}</code>
          </>
        )}
      </p>
      {agents && (
        <p>
          It calls itself{' '}
          {agents.map((agent, nth) => (
            <>
              {nth > 0 && ', '}
              <code key={agent}>{agent}</code>
            </>
          ))}
        </p>
      )}
      <p>
        What it must change to call v2 itself: <code>{guideCommand(client)}</code>{' '}
        <CopyButton text={guideCommand(client)} what="the command that prints the guide" />
      </p>
      <Sentences title="In the way" sentences={blockers} />
      <Sentences title="To look at first" sentences={cautions} />
      <Table label="What it calls" kind="cards" columns={['Operation', numbers('Calls'), numbers('Mismatches'), 'Modes', 'Last seen']}>
        {operations.map((use) => (
          <tr key={use.operation}>
            <th scope="row">
              <OperationLink operation={use.operation} />
            </th>
            <NumberCell label="Calls" of={use.calls} />
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
      </Table>
    </div>
  )
}

function Sentences({ title, sentences }: { readonly title: string; readonly sentences: readonly string[] }) {
  if (sentences.length === 0) return null
  return (
    <>
      <h3>{title}</h3>
      <Items of={sentences} />
    </>
  )
}

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
  const { icon, word } = MOVES[moveOf(one)]
  return (
    <>
      <span class="client-name">
        <Icon name={icon} />
        <code>{shownClient(one)}</code> {one.agents && <span class="quiet">{one.agents.join(', ')}</span>}
        <span class="visually-hidden">{word}</span>
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
