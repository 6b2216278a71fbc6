/** Whether everything is tried. `npm test` tries samples, because each case costs processor time; `.ci/run` sets the variable. */
export const isFull = process.env.CROSSWALK_SAMPLE === 'full'
