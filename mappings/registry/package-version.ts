import { flag, message, object, text } from '../../src/tables/language.ts'

/** One version of the package behind a tag, as v1 shows it (facts §4.4). The names in camelCase are v1's own, and v2 has none of them. */
export const packageVersion = message('package version', {
  eolDate: text(''),
  exists: flag(''),
  fips: flag(''),
  legacy_lts: text(''),
  lts: flag(''),
  releaseDate: text(''),
  version: text(''),
  eolBroken: flag(''),
  latestVersion: text(''),
  versionSource: object('', { ref: text(''), sha: text('') }),
})
