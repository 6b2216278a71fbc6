/** The functions that the engine leaves to JavaScript. If one throws, so does the engine. */

/** Parses the JSON between two places; returns the number of the value. */
export declare function parse(begin: usize, end: usize): i32

/** Writes a column's v1 member, with a comma before it, for the value with this number; returns where it ends. */
export declare function show(column: usize, value: i32, out: usize): usize
