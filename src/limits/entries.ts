const ONE = () => 1

/**
 * Options of an `LRUCache` for at most `most` entries, whose memory grows with them. With `max`, lru-cache allocates for all of them when the
 * cache is made, which takes a millisecond or two for 10,000.
 */
export const entries = (most: number) => ({ maxSize: most, sizeCalculation: ONE })
