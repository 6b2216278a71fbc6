import { describe, expect, test } from 'vitest'
import { type Reply, running } from '../running.ts'

const { get } = running()

const PATH = '/libraries/v2/artifacts'
const PYTHON = 'ecosystems=ECOSYSTEM_PYTHON'

const names = ({ json }: Reply): readonly string[] => json.artifacts.map(({ name }: { name: string }) => name)

describe('artifacts (semantics §3.14)', () => {
  test('require ecosystems by name or by number', async () => {
    const { status, json } = await get(PATH)
    expect([status, json.message]).toEqual([400, 'Invalid argument: ecosystems: is required'])
    expect((await get(`${PATH}?ecosystems=0`)).status).toBe(400)
    expect((await get(`${PATH}?ecosystems=ECOSYSTEM_JAVASCRIPT`)).json.message).toContain('parsing field "ecosystems"')
    expect((await get(`${PATH}?ecosystems=1`)).json.totalCount).toBe('30')
    expect((await get(`${PATH}?${PYTHON}&ecosystems=ECOSYSTEM_JAVA`)).json.totalCount).toBe('70')
  })

  test('are listed by name in pages', async () => {
    const first = await get(`${PATH}?${PYTHON}&page_size=25`)
    const second = await get(`${PATH}?${PYTHON}&page_size=25&page_token=${first.json.nextPageToken}`)
    const all = [...names(first), ...names(second)]
    expect(all).toEqual([...all].sort())
    expect([all.length, first.json.totalCount, second.json.nextPageToken]).toEqual([40, '40', undefined])
    expect(names(await get(`${PATH}?${PYTHON}&order_by=name%20desc&page_size=1&skip=1`))).toEqual(['urllib3'])
  })

  test('show their description and their number of versions', async () => {
    const { json } = await get(`${PATH}?${PYTHON}&query=REQUESTS`)
    expect(json.artifacts).toEqual([
      {
        uid: 'python:requests',
        name: 'requests',
        description: expect.any(String),
        ecosystem: 'ECOSYSTEM_PYTHON',
        latestVersion: '5.11+cgr.1',
        versionCount: 61,
        createTime: expect.stringMatching(/Z$/),
        updateTime: expect.stringMatching(/Z$/),
      },
    ])
  })

  test('are filtered by remediated and cuda_version', async () => {
    expect(names(await get(`${PATH}?${PYTHON}&remediated=true`))).toEqual(['django', 'pillow', 'requests', 'urllib3'])
    expect(names(await get(`${PATH}?${PYTHON}&cudaVersion=12.8`))).toEqual(['torch'])
    expect(names(await get(`${PATH}?ecosystems=ECOSYSTEM_JAVA&cuda_version=12.8`))).toEqual([])
  })
})

describe('versions (semantics §3.14)', () => {
  test('are in descending order of their text, so 5.9 comes before 5.10', async () => {
    const { json } = await get(`${PATH}/python%3Arequests/versions?page_size=200`)
    const versions: string[] = json.artifactVersions.map(({ version }: { version: string }) => version)
    expect(versions).toEqual([...versions].sort().reverse())
    expect(versions.indexOf('5.9')).toBeLessThan(versions.indexOf('5.10'))
    expect(json.totalCount).toBe('61')
  })

  test('exclude upstream ones and the members that only v1 shows', async () => {
    const { json } = await get(`${PATH}/python:requests/versions?order_by=version&page_size=1`)
    expect(json.artifactVersions).toEqual([
      {
        uid: 'python:requests:1.0:internal',
        name: 'requests',
        version: '1.0',
        description: 'requests 1.0',
        createTime: expect.any(String),
        updateTime: expect.any(String),
        sizeBytes: expect.stringMatching(/^\d+$/),
      },
    ])
  })

  test('accept a Java coordinate as one segment', async () => {
    expect((await get(`${PATH}/java:org.apache.commons:commons-lang3/versions`)).json.artifactVersions[0].name).toBe(
      'org.apache.commons:commons-lang3',
    )
  })

  test('of a missing artifact are NOT_FOUND', async () => {
    const { status, json } = await get(`${PATH}/python:nothing/versions`)
    expect([status, json.details[1]]).toEqual([
      404,
      expect.objectContaining({ resourceType: 'libraries.chainguard.dev/Artifact', resourceName: 'python:nothing' }),
    ])
  })
})

describe('count (semantics §3.14)', () => {
  test('has one row for each requested ecosystem', async () => {
    const { json } = await get(`${PATH}/count?${PYTHON}&ecosystems=ECOSYSTEM_JAVA&${PYTHON}`)
    expect(json).toEqual({
      counts: [
        { ecosystem: 'ECOSYSTEM_PYTHON', totalCount: '40' },
        { ecosystem: 'ECOSYSTEM_JAVA', totalCount: '30' },
      ],
    })
    expect((await get(`${PATH}/count`)).json.message).toBe('Invalid argument: ecosystems: is required')
  })
})
