/** The function that the engine leaves to JavaScript. If it throws, so does the engine. */

/** Writes the field with this number for the JSON between two places; returns where it ends. */
export declare function write(field: i32, begin: usize, end: usize, out: usize): usize
