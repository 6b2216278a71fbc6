/** The number of cases of one kind in `npm run fuzz`. */
export const sizeOr = (usual: number): number => Number(process.env.CROSSWALK_CASES ?? usual)

/** The seed of `npm test`, so that its cases are always the same. */
const SAMPLE_SEED = 1

/** Printed with every run; the same seed gives the same cases. */
export const seedOr = (fallback: number): number => Number(process.env.CROSSWALK_SEED ?? fallback)

export const sampleSeed = seedOr(SAMPLE_SEED)
