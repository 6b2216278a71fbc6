import { isObject, type JsonObject } from '../../tables/json.ts'
import type { SeenAnswer } from '../compare/compare.ts'
import type { Finding } from '../compare/finding.ts'
import { pointerOf, rowSegment, segmentsOf } from '../compare/json-path.ts'
import type { Movement } from './movement.ts'
import { isRowOfList } from './shifted.ts'
import { isWithin, type Period, type Stamps, stampsOf, updateStampOf } from './stamps.ts'

/** An event that makes two right answers differ. */
export type Cause = 'moved' | 'came and went' | 'shifted' | 'created before' | 'written before' | 'written' | 'wrote'

/** What a finding is about. */
type Subject =
  /** v2's list has a row with an id that v1's does not have. */
  | 'new row'
  /** v1's list has a row with an id that v2's does not have. */
  | 'lost row'
  | 'order'
  /** Another value, or another element of a list without ids. */
  | 'value'
  /** Everything else: a member that one side lacks or has in another type, a status, a row that v2 shows twice. */
  | 'presence'

/** The events that can explain each kind of finding. Nothing else makes it a race. docs/migration.md shows the same table. */
const CAUSES: Readonly<Record<Subject, readonly Cause[]>> = {
  'new row': ['moved', 'came and went', 'shifted', 'wrote'],
  'lost row': ['moved', 'created before', 'shifted', 'wrote'],
  order: ['moved', 'wrote'],
  value: ['moved', 'written before', 'written', 'wrote'],
  presence: ['moved', 'written before', 'wrote'],
}

export const REASONS: Readonly<Record<Cause, string>> = {
  moved: 'v1 changed between the two answers',
  'came and went': 'a row came and went between the answers',
  shifted: 'the window moved because a row came or went',
  'created before': 'a row was created before v1 was asked',
  'written before': 'a row was written before v1 was asked',
  written: 'a row was written there and back',
  wrote: 'the caller wrote at the same time',
}

/** What is known of the events while one answer of v2 and one of v1 were asked for. */
export interface Events {
  readonly v1: SeenAnswer
  readonly v2: SeenAnswer
  /** v2 answered first, so that nothing is known of v1 before. */
  readonly v2First: boolean
  readonly movement: Movement
  /** Rows at the ends of a window that another row pushed in or out. */
  readonly shifted: ReadonlySet<Finding>
  readonly period: Period
  /** Stamps of rows by uid, as v2 shows them. */
  readonly stamps: ReadonlyMap<string, Stamps>
  /** The caller wrote meanwhile. */
  readonly wrote: boolean
}

/** Returns the event that explains a finding; undefined if there is none. */
export function causeOf(finding: Finding, events: Events): Cause | undefined {
  const [subject, row] = subjectOf(finding, events)
  return CAUSES[subject].find((cause) => HAPPENED[cause](finding, events, row))
}

type Happened = (finding: Finding, events: Events, row: JsonObject) => boolean

const HAPPENED: Readonly<Record<Cause, Happened>> = {
  moved: (finding, { movement }) => movement.explains(finding),
  /** After v1 was asked, only a row that was created or written since can appear. Before, any row can have been deleted. */
  'came and went'(_, { v2First, period }, row) {
    const { created, updated } = stampsOf(row)
    return v2First || (created === undefined && updated === undefined) || isWithin(period, created, updated)
  },
  shifted: (finding, { shifted }) => shifted.has(finding),
  'created before'(_, { v2First, period, stamps }, row) {
    return v2First && isWithin(period, stampsOf(row).created, stamps.get(String(row.id))?.created)
  },
  'written before': (finding, events) => events.v2First && HAPPENED.written(finding, events, {}),
  written: (finding, events) => objectsAround(finding, events).some((around) => wasWritten(around, events)),
  wrote: (_, { wrote }) => wrote,
}

function subjectOf(finding: Finding, { v1, v2 }: Events): readonly [Subject, JsonObject] {
  const { kind, path } = finding
  if (kind === 'order') return ['order', {}]
  if (kind === 'status') {
    if (finding.v1 === NOT_FOUND && finding.v2 === OK) return ['new row', bodyOf(v2)]
    return finding.v1 === OK && finding.v2 === NOT_FOUND ? ['lost row', bodyOf(v1)] : ['presence', {}]
  }
  if (kind === 'extra' && isRowOfList(finding) && isRow(finding.v2, path)) return ['new row', finding.v2]
  if (kind === 'missing' && isRowOfList(finding) && isRow(finding.v1, path)) return ['lost row', finding.v1]
  return [kind === 'value' || path.includes('/[#') ? 'value' : 'presence', {}]
}

const OK = 200
const NOT_FOUND = 404

/** True if the path ends with the id of this row. It ends with another name if the row has no id, or is the second one with this id. */
function isRow(row: unknown, path: string): row is JsonObject {
  return isObject(row) && Object.values(row).some((value) => typeof value === 'string' && path.endsWith(pointerOf([rowSegment(value)])))
}

interface Around {
  readonly path: string
  readonly object: JsonObject
}

/** True for a value in a row that v1 wrote just then, though v1 shows the same value again: it may have been written there and back. */
export function isRewritten(finding: Finding, events: Events, around: Movement): boolean {
  if (subjectOf(finding, events)[0] !== 'value') return false
  return objectsAround(finding, events).some(({ path, object }) => around.changed(`${path}/${updateStampOf(object)}`))
}

/** Returns the objects of v1's answer that contain a finding, from the outside in. */
function objectsAround({ at, path, kind }: Finding, { v1 }: Events): readonly Around[] {
  const names = segmentsOf(path)
  const found: Around[] = []
  let here: unknown = v1.body.kind === 'json' ? v1.body.value : undefined
  for (const [depth, segment] of segmentsOf(at).entries()) {
    if (isObject(here)) found.push({ path: pointerOf(names.slice(0, depth)), object: here })
    here = isObject(here) || Array.isArray(here) ? (here as JsonObject)[segment] : undefined
  }
  return kind === 'status' ? [] : found
}

/**
 * True if an object was written at the same time. If v1 shows when that was, v1 must have shown another time before. If nothing is known of
 * v1 before, the time must be in the period. Otherwise v2's stamps tell, those of the object and of everything that it refers to.
 */
function wasWritten({ path, object }: Around, { period, movement, v2First, stamps }: Events): boolean {
  const name = updateStampOf(object)
  if (name !== undefined) return movement.changed(`${path}/${name}`) || (v2First && isWithin(period, stampsOf(object).updated))
  return Object.values(object).some((value) => typeof value === 'string' && isWithin(period, ...timesOf(stamps.get(value))))
}

function timesOf(stamps: Stamps | undefined): readonly (number | undefined)[] {
  return [stamps?.created, stamps?.updated]
}

function bodyOf({ body }: SeenAnswer): JsonObject {
  return body.kind === 'json' && isObject(body.value) ? body.value : {}
}
