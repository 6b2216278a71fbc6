import { many } from '../../migrate/evidence/evidence.ts'
import type { ClientRow, Replayed, ReplayedOperation } from './replayed.ts'

/** Writes what recorded traffic would meet as lines for a terminal, with at most `top` rows of each list. */
export function replayLines(replayed: Replayed, top: number): readonly string[] {
  const { operations, differences, unknown, clients, uncounted, assumptions } = replayed
  return [
    ...head(replayed),
    ...section('operations', first(top, table(operations.map(operationCells)))),
    ...section('dropped by v1 and v2 alike', first(top, operations.flatMap(droppedLines))),
    ...section(
      'differences to expect',
      differences.map(({ code, requests, seen }) => `${code}  ${many(requests, 'request')}  ${seen}`),
    ),
    ...section(
      'unknown to v1',
      first(
        top,
        unknown.map(({ method, path, why, requests }) => `${`${method} ${path}`.trim()}  ${many(requests, 'request')}  ${why}`),
      ),
    ),
    ...section('clients', [
      ...first(top, table(clients.map(clientCells))),
      ...(uncounted > 0 ? [`${many(uncounted, 'request')} of further clients`] : []),
    ]),
    ...section('assumed', assumptions),
  ]
}

function head({ requests, unreadable, unreadableLines, span, coverage, v2 }: Replayed): readonly string[] {
  const { served, v1Only, unknown, native } = coverage
  const when = span ? `, ${time(span.from)} to ${time(span.to)}` : ''
  const lost = unreadable > 0 ? `, ${many(unreadable, 'line')} not readable${numbers(unreadable, unreadableLines)}` : ''
  const kept = v2.kept > 0 ? `, ${v2.kept} of them spared while an answer is kept` : ''
  const peak = v2.peak
    ? [`peak      ${many(v2.peak.calls, 'v2 call')} for ${many(v2.peak.requests, 'request')} in the minute of ${time(v2.peak.at)}`]
    : []
  return [
    `${many(requests, 'request')}${when}${lost}`,
    `coverage  ${served} served from v2 (${share(served, requests)}), ${v1Only} v1-only, ${unknown} unknown, ${native} not v1`,
    `cost      ${many(v2.calls, 'v2 call')}${kept}`,
    ...peak,
  ]
}

/** Names the lines, or the first of them. */
function numbers(all: number, lines: readonly number[]): string {
  if (lines.length === 0) return ''
  return ` (line ${lines.join(', ')}${all > lines.length ? ', …' : ''})`
}

/** Says how many rows are left out. */
function first(top: number, rows: readonly string[]): readonly string[] {
  return rows.length <= top ? rows : [...rows.slice(0, top), `and ${rows.length - top} more`]
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)]
}

function operationCells({ operation, kind, requests, v2Calls, refused, because }: ReplayedOperation): readonly string[] {
  const cost = kind === 'v1-only' ? `needs v1: ${because ?? ''}` : `${many(v2Calls, 'v2 call')} (${each(v2Calls, requests)} each)`
  return [operation, kind, many(requests, 'request'), refused > 0 ? `${cost}, ${refused} refused` : cost]
}

function droppedLines({ operation, droppedParameters, droppedMembers }: ReplayedOperation): readonly string[] {
  const lines = (of: Readonly<Record<string, number>>, what: string) =>
    Object.entries(of).map(([name, requests]) => `${operation}  ${what} ${name}  ${many(requests, 'request')}`)
  return [...lines(droppedParameters, 'parameter'), ...lines(droppedMembers, 'member')]
}

function clientCells({ client, requests, served, v1Only, unknown, unclear, v2Calls, blockers }: ClientRow): readonly string[] {
  const needs = blockers.length > 0 ? [`needs v1 for ${blockers.join(', ')}`] : []
  const unsure = unclear > 0 ? ['look at its unknown paths first'] : []
  const move = [...needs, ...unsure].join('; ') || 'could move to v2'
  const counts = [`${served} served, ${v1Only} v1-only`, ...(unknown > 0 ? [`${unknown} unknown`] : [])].join(', ')
  return [client, many(requests, 'request'), counts, many(v2Calls, 'v2 call'), move]
}

/** Aligns columns. The last one is not padded. */
function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)))
  return rows.map((row) => row.map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0))).join('  '))
}

function each(calls: number, requests: number): number {
  return Math.round((10 * calls) / requests) / 10
}

function share(part: number, whole: number): string {
  return `${whole === 0 ? 0 : Math.round((1000 * part) / whole) / 10} %`
}

/** RFC 3339 without the fraction. */
function time(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`
}
