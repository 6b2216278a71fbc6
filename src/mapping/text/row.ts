import type { Fields } from '../field.ts'
import type { Dialect } from '../names.ts'
import { isShownIn, nameIn } from '../show.ts'
import { type Member, memberOf } from './member.ts'
import { CLOSE_OBJECT, COMMA, expect, LOOK, type Look, OPEN_OBJECT, peek, readName, readValue, type Scan, SURPRISE } from './scan.ts'

/** A member of a v2 row and what the row at hand holds for it. */
export interface Slot {
  /** `"name":` */
  readonly key: string
  look: Look
  value: unknown
  /** Where its name, its value and the text behind it begin; `name` is -1 when a space stands in between. */
  name: number
  begin: number
  end: number
}

/** A v1 member and the v2 member that it is made from. */
export interface Column {
  readonly member: Member
  readonly slot: Slot | undefined
}

/** A field table made for writing v1 rows from the text of v2 rows, without parsing them into objects. */
export interface RowTable {
  readonly columns: readonly Column[]
  /** The members of the row that was read last, in their order, those included that v1 does not show. */
  readonly order: Slot[]
  /** Reads the row at the scan's place and returns its v1 text. */
  write(scan: Scan): string
  /** The uid of the row that was read last. */
  uid(scan: Scan): string
}

const UID = 'uid'

/** Compiles a field table; undefined when one of its members needs the whole row. */
export function compileRow(fields: Fields, dialect: Dialect): RowTable | undefined {
  const slots = new Map([[UID, slotOf(UID)]])
  const columns: Column[] = []
  for (const [name, field] of Object.entries(fields)) {
    if (!isShownIn(dialect, field)) continue
    const member = memberOf(nameIn(dialect, name, field), field, dialect)
    if (!member) return undefined
    if (member.from !== undefined && !slots.has(member.from)) slots.set(member.from, slotOf(member.from))
    columns.push({ member, slot: member.from === undefined ? undefined : slots.get(member.from) })
  }
  const order: Slot[] = []
  const uid = slots.get(UID)
  return {
    columns,
    order,
    write(scan) {
      for (const slot of slots.values()) slot.look = LOOK.absent
      readRow(scan, slots, order)
      return textOf(scan.text, columns)
    },
    uid({ text }) {
      if (uid?.look !== LOOK.text) throw SURPRISE
      return text.slice(uid.begin + 1, uid.end - 1)
    },
  }
}

function slotOf(name: string): Slot {
  return { key: `${JSON.stringify(name)}:`, look: LOOK.absent, value: undefined, name: -1, begin: 0, end: 0 }
}

/**
 * Finds the members of the row at the scan's place. Rows of a list have them in one order, so that each is first looked for where the row
 * before had it.
 */
function readRow(scan: Scan, slots: ReadonlyMap<string, Slot>, order: Slot[]): void {
  expect(scan, OPEN_OBJECT)
  let count = 0
  for (let code = COMMA; code === COMMA; scan.at += 1) {
    readMember(scan, slots, order, count)
    count += 1
    code = peek(scan)
    if (code !== COMMA && code !== CLOSE_OBJECT) throw SURPRISE
  }
  order.length = count
}

function readMember(scan: Scan, slots: ReadonlyMap<string, Slot>, order: Slot[], at: number): void {
  const name = scan.at
  let slot = order[at]
  const asBefore = slot !== undefined && scan.text.startsWith(slot.key, name)
  if (slot && asBefore) {
    scan.at += slot.key.length
  } else {
    const known = readName(scan)
    slot = slots.get(known) ?? slotOf(known)
    order[at] = slot
  }
  const behindName = scan.at
  peek(scan)
  slot.begin = scan.at
  slot.name = asBefore && scan.at === behindName ? name : -1
  slot.look = readValue(scan)
  slot.value = scan.value
  slot.end = scan.at
}

/** The v1 text of the row that was read; what both versions spell alike is copied, neighbours in one piece. */
function textOf(text: string, columns: readonly Column[]): string {
  let out = '{'
  let separator = ''
  let begin = 0
  let end = -1
  for (const { member, slot } of columns) {
    const look = slot?.look ?? LOOK.absent
    const copied = slot !== undefined && member.copied[look] === true
    if (copied && slot.name === end + 1 && slot.key === member.name) {
      end = slot.end
      continue
    }
    const value = copied ? '' : member.write(look, slot && look !== LOOK.absent ? text.slice(slot.begin, slot.end) : '', slot?.value)
    if (value === undefined) continue
    out += (end < 0 ? '' : text.slice(begin, end)) + separator + member.name + value
    begin = copied ? slot.begin : 0
    end = copied ? slot.end : -1
    separator = ','
  }
  return `${out}${end < 0 ? '' : text.slice(begin, end)}}`
}
