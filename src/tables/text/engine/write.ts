import { copy, isSame } from './copy'
import { parse, show } from './host'
import { ABSENT, CLOSE_OBJECT, INTEGER, isMoment, NULL, OPEN_OBJECT, OTHER, QUOTE, SHORT_INTEGER, TEXT } from './scan'
import {
  BEGIN,
  CHOICE,
  CHOICES,
  COLUMN,
  COLUMNS,
  COLUMNS_END,
  COPIED,
  END,
  FROM,
  LABEL,
  LABEL_LENGTH,
  LOOK,
  PARENT,
  TIMED,
  UNSET,
  UNSET_LENGTH,
  V1,
  V1_LENGTH,
  V2,
  V2_LENGTH,
  VALUE,
} from './table'

/** Writes the v1 form of the row that was read. A value that both versions spell alike is copied. */
export function writeRow(table: usize, begin: usize): usize {
  let out = begin
  const end = load<usize>(table, COLUMNS_END)
  for (let column = load<usize>(table, COLUMNS); column < end; column += COLUMN) {
    const slot = load<usize>(column, FROM)
    const look = load<i32>(slot, LOOK)
    if (isCopied(load<i32>(column, COPIED), slot, look)) {
      out = copy(out, load<usize>(column, LABEL), load<usize>(column, LABEL_LENGTH))
      out = copy(out, load<usize>(slot, BEGIN), load<usize>(slot, END) - load<usize>(slot, BEGIN))
      continue
    }
    const unset = look === ABSENT || look === NULL
    if (unset && load<usize>(column, UNSET_LENGTH) === 0) continue
    out = unset ? copy(out, load<usize>(column, UNSET), load<usize>(column, UNSET_LENGTH)) : writeMade(column, slot, look, out)
  }
  if (out === begin) out += 1
  store<u8>(begin, OPEN_OBJECT)
  store<u8>(out, CLOSE_OBJECT)
  return out + 1
}

/** True if the value is written as v2 wrote it. What is not surely of the member's type is left to JavaScript, which knows the type. */
function isCopied(copied: i32, slot: usize, look: i32): bool {
  if (((copied >> look) & 1) === 0) return false
  if ((copied & TIMED) !== 0) return isMoment(load<usize>(slot, BEGIN), load<usize>(slot, END))
  return look !== INTEGER || load<usize>(slot, END) - load<usize>(slot, BEGIN) <= SHORT_INTEGER
}

/** Writes a member whose text differs from v2's. */
function writeMade(column: usize, slot: usize, look: i32, out: usize): usize {
  const begin = load<usize>(slot, BEGIN)
  const end = load<usize>(slot, END)
  if (look === TEXT && load<i32>(column, PARENT) !== 0) return writeParent(column, begin, end, out)
  const choice = load<usize>(column, CHOICES)
  if (look === TEXT && choice !== 0) {
    const known = choiceOf(choice, begin, end - begin)
    if (known !== 0) return copy(out, load<usize>(known, V1), load<usize>(known, V1_LENGTH))
  }
  return show(column, look === OTHER ? load<i32>(slot, VALUE) : parse(begin, end), out)
}

/** Writes the part of a uid before its last slash. */
function writeParent(column: usize, begin: usize, end: usize, out: usize): usize {
  let slash = end - 1
  while (slash > begin && load<u8>(slash) !== 0x2f) slash -= 1
  if (slash === begin) return copy(out, load<usize>(column, UNSET), load<usize>(column, UNSET_LENGTH))
  const label = copy(out, load<usize>(column, LABEL), load<usize>(column, LABEL_LENGTH))
  const parent = copy(label, begin, slash - begin)
  store<u8>(parent, QUOTE)
  return parent + 1
}

/** Returns the enum value with this text, if the enum has it. */
function choiceOf(first: usize, text: usize, length: usize): usize {
  for (let choice = first; load<usize>(choice, V2_LENGTH) !== 0; choice += CHOICE) {
    if (load<usize>(choice, V2_LENGTH) === length && isSame(text, load<usize>(choice, V2), length)) return choice
  }
  return 0
}
