/** How many cases `npm run fuzz` tries of a kind. */
export const sizeOr = (usual: number): number => Number(process.env.CROSSWALK_CASES ?? usual)

/** Cases of `npm test`: always the same. */
const SAMPLE_SEED = 1

/** Printed with every run; the same seed brings the same cases. */
export const seedOr = (fallback: number): number => Number(process.env.CROSSWALK_SEED ?? fallback)

export const sampleSeed = seedOr(SAMPLE_SEED)
