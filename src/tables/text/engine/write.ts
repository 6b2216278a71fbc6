import { copy, isSame } from './copy'
import { parse, show } from './host'
import {
  ABSENT,
  CLOSE_LIST,
  CLOSE_OBJECT,
  INTEGER,
  isMoment,
  NULL,
  nextStop,
  OPEN_LIST,
  OPEN_OBJECT,
  OTHER,
  QUOTE,
  SHORT_INTEGER,
  TEXT,
  TEXTS,
} from './scan'
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
  KIND,
  LABEL,
  LABEL_LENGTH,
  LIST,
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
  const kind = load<i32>(column, KIND)
  const choice = load<usize>(column, CHOICES)
  if (look === TEXT && kind === PARENT) return writeParent(column, begin, end, out)
  if (look === TEXT && choice !== 0 && kind !== LIST) {
    const known = choiceOf(choice, begin, end - begin)
    if (known !== 0) return copy(out, load<usize>(known, V1), load<usize>(known, V1_LENGTH))
  }
  if (look === TEXTS && kind === LIST) {
    const written = writeChoices(column, choice, begin, out)
    if (written !== 0) return written
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

/** Writes a list of enum values; returns 0 if it is empty, or if the enum does not have one of them. */
function writeChoices(column: usize, choices: usize, begin: usize, out: usize): usize {
  const list = copy(out, load<usize>(column, LABEL), load<usize>(column, LABEL_LENGTH))
  let to = list
  let at = begin
  do {
    const end = nextStop(at + 2) + 1
    const known = choiceOf(choices, at + 1, end - at - 1)
    if (known === 0) return 0
    to = copy(to, load<usize>(known, V1), load<usize>(known, V1_LENGTH))
    at = end
  } while (load<u8>(at) !== CLOSE_LIST)
  store<u8>(list, OPEN_LIST)
  store<u8>(to, CLOSE_LIST)
  return to + 1
}

/** Returns the enum value with this text, if the enum has it. */
function choiceOf(first: usize, text: usize, length: usize): usize {
  for (let choice = first; load<usize>(choice, V2_LENGTH) !== 0; choice += CHOICE) {
    if (load<usize>(choice, V2_LENGTH) === length && isSame(text, load<usize>(choice, V2), length)) return choice
  }
  return 0
}
