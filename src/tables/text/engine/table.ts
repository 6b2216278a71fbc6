/** Where the table of a page keeps what; the other side writes it. Addresses and numbers of four bytes each. */

/** In the table: the numbers and addresses of slots and columns, and the order of members. */
export const SLOTS: usize = 0
export const SLOTS_END: usize = 4
export const COLUMNS: usize = 8
export const COLUMNS_END: usize = 12
export const ORDER: usize = 16
export const ORDER_END: usize = 20

/** In the table: the results of the page. */
export const COUNT: usize = 24
export const OUT_END: usize = 28
export const SECOND: usize = 32
export const FIRST_BEGIN: usize = 36
export const FIRST_END: usize = 40
export const LAST_BEGIN: usize = 44
export const LAST_END: usize = 48

/** In the table: 1 if each row has a uid, which its first slot holds. */
export const IDENTIFIED: usize = 52

/** In a slot, a v2 member: its `"name":`, one bit for each of that text's first 16 bytes, and the value in the current row. */
export const SLOT: usize = 28
export const KEY: usize = 0
export const KEY_LENGTH: usize = 4
export const KEY_BITS: usize = 8
export const LOOK: usize = 12
export const BEGIN: usize = 16
export const END: usize = 20
/** The number of the parsed value. */
export const VALUE: usize = 24

/** In a column, a v1 member: its slot and one bit for each look whose text is copied. Without a slot it has 0, where nothing is: absent. */
export const COLUMN: usize = 32
export const FROM: usize = 0
export const COPIED: usize = 4
/** Beside those bits: the text must be a time. */
export const TIMED: i32 = 1 << 16
/** `,"name":` */
export const LABEL: usize = 8
export const LABEL_LENGTH: usize = 12
/** The same with the value that is shown if v2 has none. */
export const UNSET: usize = 16
export const UNSET_LENGTH: usize = 20
/** The enum values of an enum. */
export const CHOICES: usize = 24
/** How it is made: from the value, as the parent part of a uid, or from a list of enum values. */
export const KIND: usize = 28
export const PARENT: i32 = 1
export const LIST: i32 = 2

/** In a choice: its text in v2, and its v1 member, or in a list its v1 text after a comma. A length of 0 follows the last one. */
export const CHOICE: usize = 16
export const V2: usize = 0
export const V2_LENGTH: usize = 4
export const V1: usize = 8
export const V1_LENGTH: usize = 12

/** Behind the table: where the uids of the page begin, by their last bytes. A page has fewer rows than half of the places. */
export const SEEN: usize = 61440
export const SEEN_END: usize = 65536
export const MOST_SEEN: i32 = 512
