/**
 * The data of the end-of-life listing. The store does not hold it and v2 has no such data (semantics §8). Upstream projects publish these
 * dates; ASSUMPTIONS.md names the invented ones.
 */

/** One release line of a package. Dates are `YYYY-MM-DD`, or empty if upstream has announced none. */
export type VersionStream = {
  readonly version: string
  readonly latestVersion: string
  readonly releaseDate: string
  readonly eolDate: string
  readonly lts: boolean
  readonly fips: boolean
  /** The stream cannot be built any more, which ends its grace period at once. */
  readonly eolBroken: boolean
}

type Package = { readonly name: string; readonly streams: readonly VersionStream[] }
type StreamRow = readonly [
  version: string,
  latestVersion: string,
  releaseDate: string,
  eolDate: string,
  ...marks: ('lts' | 'fips' | 'broken')[],
]

const streams = (...rows: readonly StreamRow[]): readonly VersionStream[] =>
  rows.map(([version, latestVersion, releaseDate, eolDate, ...marks]) => ({
    version,
    latestVersion,
    releaseDate,
    eolDate,
    lts: marks.includes('lts'),
    fips: marks.includes('fips'),
    eolBroken: marks.includes('broken'),
  }))

/** Repo name → main package. The two often differ: `node` ships `nodejs`. */
export const packageOfRepo: ReadonlyMap<string, Package> = new Map([
  [
    'go',
    {
      name: 'go',
      streams: streams(
        ['1.21', '1.21.13', '2023-08-08', '2024-08-13'],
        ['1.22', '1.22.12', '2024-02-06', '2025-02-11'],
        ['1.23', '1.23.12', '2024-08-13', '2025-08-12', 'fips'],
        ['1.24', '1.24.10', '2025-02-11', '2026-02-11', 'fips'],
        ['1.25', '1.25.4', '2025-08-12', '2026-08-12', 'fips'],
      ),
    },
  ],
  [
    'jdk',
    {
      name: 'openjdk',
      streams: streams(
        ['11', '11.0.29', '2018-09-25', '2027-10-31', 'lts', 'fips'],
        ['17', '17.0.17', '2021-09-14', '2029-09-30', 'lts', 'fips'],
        ['21', '21.0.9', '2023-09-19', '2031-09-30', 'lts', 'fips'],
        ['24', '24.0.2', '2025-03-18', '2025-09-16', 'broken'],
        ['25', '25.0.1', '2025-09-16', '2033-09-30', 'lts'],
      ),
    },
  ],
  [
    'node',
    {
      name: 'nodejs',
      streams: streams(
        ['18', '18.20.8', '2022-04-19', '2025-04-30', 'lts', 'fips'],
        ['20', '20.19.5', '2023-04-18', '2026-04-30', 'lts', 'fips'],
        ['22', '22.21.1', '2024-04-24', '2027-04-30', 'lts', 'fips'],
        ['24', '24.11.1', '2025-05-06', '2028-04-30', 'lts'],
        ['25', '25.2.0', '2025-10-15', '2026-06-01'],
      ),
    },
  ],
  [
    'php',
    {
      name: 'php',
      streams: streams(
        ['8.1', '8.1.33', '2021-11-25', '2025-12-31'],
        ['8.2', '8.2.29', '2022-12-08', '2026-12-31'],
        ['8.3', '8.3.27', '2023-11-23', '2027-12-31'],
        ['8.4', '8.4.14', '2024-11-21', '2028-12-31'],
      ),
    },
  ],
  [
    'postgres',
    {
      name: 'postgresql',
      streams: streams(
        ['13', '13.23', '2020-09-24', '2025-11-13'],
        ['14', '14.20', '2021-09-30', '2026-11-12'],
        ['15', '15.15', '2022-10-13', '2027-11-11'],
        ['16', '16.11', '2023-09-14', '2028-11-09', 'fips'],
        ['17', '17.7', '2024-09-26', '2029-11-08', 'fips'],
        ['18', '18.1', '2025-09-25', '2030-11-14'],
      ),
    },
  ],
  [
    'python',
    {
      name: 'python',
      streams: streams(
        ['3.8', '3.8.20', '2019-10-14', '2024-10-07'],
        ['3.9', '3.9.25', '2020-10-05', '2025-10-31'],
        ['3.10', '3.10.19', '2021-10-04', '2026-10-31', 'fips'],
        ['3.11', '3.11.14', '2022-10-24', '2027-10-31', 'fips'],
        ['3.12', '3.12.12', '2023-10-02', '2028-10-31', 'fips'],
        ['3.13', '3.13.9', '2024-10-07', '2029-10-31', 'fips'],
        ['3.14', '3.14.0', '2025-10-07', '2030-10-31'],
      ),
    },
  ],
  [
    'ruby',
    {
      name: 'ruby',
      streams: streams(
        ['3.1', '3.1.7', '2021-12-25', '2025-03-26', 'broken'],
        ['3.2', '3.2.9', '2022-12-25', '2026-03-31'],
        ['3.3', '3.3.10', '2023-12-25', '2027-03-31'],
        ['3.4', '3.4.7', '2024-12-25', '2028-03-31'],
      ),
    },
  ],
])
