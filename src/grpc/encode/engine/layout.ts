/** Where the tables of messages keep what; the other side writes them. Addresses and numbers of four bytes each. */

/** In a message: the member that its objects begin with, as the last one did, and its members. */
export const FIRST: usize = 0
export const MEMBERS: usize = 4
export const MEMBERS_END: usize = 8

/** In a member, one name of a field: `"name":` and how its values are written. */
export const MEMBER: usize = 48
export const KEY: usize = 0
export const KEY_LENGTH: usize = 4
export const KIND: usize = 8
/** The bytes of the tag, and their number. */
export const TAG: usize = 12
export const TAG_LENGTH: usize = 16
/** 1 if the zero value is sent. */
export const KEPT: usize = 20
/** The message of its values. */
export const PART: usize = 24
/** The bytes that the length of the last value took. */
export const WIDTH: usize = 28
/** The number of the field for JavaScript. */
export const FIELD: usize = 32
/** The member that followed last. */
export const NEXT: usize = 36
/** The bit of the field among those of its message; none from the 65th on. */
export const BIT: usize = 40

/** How values are written; `KINDS` in encode.ts has the same order. Those of any other kind are written by JavaScript. */
export const TEXT_KIND: i32 = 1
export const FLAG_KIND: i32 = 2
export const TIME_KIND: i32 = 3
export const PART_KIND: i32 = 4
export const TEXTS_KIND: i32 = 5
export const PARTS_KIND: i32 = 6
