/** Where the table of a page keeps what; the other side writes it. Addresses and numbers of four bytes each. */

/** Of the table: how many slots and columns it has, and where they and the order of members are. */
export const SLOTS: usize = 0
export const SLOTS_END: usize = 4
export const COLUMNS: usize = 8
export const COLUMNS_END: usize = 12
export const ORDER: usize = 16
export const ORDER_END: usize = 20

/** Of the table: what has been found on the page. */
export const COUNT: usize = 24
export const OUT_END: usize = 28
export const SECOND: usize = 32
export const FIRST_BEGIN: usize = 36
export const FIRST_END: usize = 40
export const LAST_BEGIN: usize = 44
export const LAST_END: usize = 48

/** Of the table: whether each row has a uid, which its first slot holds. */
export const IDENTIFIED: usize = 52

/** Of a slot, a v2 member: its `"name":`, and what the row at hand holds for it. `NAME` is 0 when a space stands behind the name. */
export const SLOT: usize = 28
export const KEY: usize = 0
export const KEY_LENGTH: usize = 4
export const LOOK: usize = 8
export const NAME: usize = 12
export const BEGIN: usize = 16
export const END: usize = 20
/** The number of the parsed value. */
export const VALUE: usize = 24

/** Of a column, a v1 member: the slot that it is made from, if any, and the looks whose text is copied, one bit for each. */
export const COLUMN: usize = 36
export const FROM: usize = 0
export const COPIED: usize = 4
/** Whether both versions call it the same. */
export const SAME: usize = 8
/** `,"name":` */
export const LABEL: usize = 12
export const LABEL_LENGTH: usize = 16
/** The same with the value that is shown when v2 has none. */
export const UNSET: usize = 20
export const UNSET_LENGTH: usize = 24
/** Enum values, if it is one. */
export const CHOICES: usize = 28
/** Whether it is the parent part of a uid. */
export const PARENT: usize = 32

/** Of a choice: its text in v2, and the v1 member with its text in v1. The last one is followed by a length of 0. */
export const CHOICE: usize = 16
export const V2: usize = 0
export const V2_LENGTH: usize = 4
export const V1: usize = 8
export const V1_LENGTH: usize = 12
