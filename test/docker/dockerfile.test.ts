import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { validate } from 'dockerfile-utils'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startProxy, type TestProxy } from '../stage/proxy.ts'
import { answering, startUpstream, type Upstream } from '../stage/upstream.ts'

const text = readFileSync('docker/Dockerfile', 'utf8')
const lines = text
  .replace(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => /^[A-Z]+ /.test(line))
const final = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM ')))

/** The one place that names an image. */
const BASE = ['$', '{NODE_IMAGE}'].join('')

describe('the Dockerfile', () => {
  it('is well-formed', () => {
    expect(validate(text).map(({ message, range }) => `${range.start.line + 1}: ${message}`)).toEqual([])
  })

  it('names its base by an exact version of Node 24, once', () => {
    expect(lines.filter((line) => /^(ARG \w+_IMAGE|FROM)/.test(line))).toEqual([
      expect.stringMatching(/^ARG NODE_IMAGE=node:24\.\d+\.\d+-bookworm-slim$/),
      `ARG RUNTIME_IMAGE=${BASE}`,
      `FROM --platform=$BUILDPLATFORM ${BASE} AS base`,
      'FROM base AS build',
      'FROM base AS modules',
      `FROM ${BASE.replace('NODE', 'RUNTIME')}`,
    ])
  })

  it('tells in labels of the Open Container Initiative what the image is', () => {
    const { description, license } = JSON.parse(readFileSync('package.json', 'utf8'))
    const label = final.find((line) => line.startsWith('LABEL')) ?? ''
    const told = Object.fromEntries(
      [...label.matchAll(/org\.opencontainers\.image\.(\w+)="([^"]*)"/g)].map(([, key, value]) => [key, value]),
    )
    const [version, revision] = ['VERSION', 'REVISION'].map((name) => BASE.replace('NODE_IMAGE', name))
    expect(told).toEqual({ title: 'Crosswalk', description, licenses: license, version, revision })
  })

  it('takes each argument that the bake file gives, from the folder that it names', () => {
    const bake = readFileSync('docker/docker-bake.hcl', 'utf8')
    const given = [...bake.matchAll(/args += \{ (.*) \}/g)].flatMap(([, args = '']) => args.match(/\w+(?= =)/g) ?? [])
    expect(given).toEqual(['VERSION', 'REVISION', 'RUNTIME_IMAGE'])
    expect(given.filter((name) => !lines.some((line) => line.startsWith(`ARG ${name}=`)))).toEqual([])
    expect(existsSync(/dockerfile += "(.*)"/.exec(bake)?.[1] ?? '')).toBe(true)
  })

  it('installs what the lock file says, without scripts, and into the image only what runs', () => {
    const installs = lines.filter((line) => /npm (ci|i|install|add)\b/.test(line))
    expect(installs).toEqual(['RUN npm ci --ignore-scripts', 'RUN npm ci --ignore-scripts --omit=dev'])
    expect(final).toContain('COPY --from=modules /app/node_modules ./node_modules')
  })

  it('starts Node without flags', () => {
    expect(lines.filter((line) => line.startsWith('ENTRYPOINT'))).toEqual(['ENTRYPOINT ["node", "dist/bundle/cli.js"]'])
  })

  it('runs as a number that is not root, in production', () => {
    expect(final.filter((line) => line.startsWith('USER'))).toEqual(['USER 1000:1000'])
    expect(final.find((line) => line.startsWith('ENV'))).toContain('NODE_ENV=production')
    expect(final.filter((line) => /^(RUN|ADD)/.test(line))).toEqual([])
  })

  it('copies what is there, and the builder is given no more', () => {
    const sources = lines.filter((line) => /^COPY (?!--from)/.test(line)).flatMap((line) => line.split(' ').slice(1, -1))
    expect(sources.filter((source) => !existsSync(source))).toEqual([])
    const ignore = readFileSync('.dockerignore', 'utf8')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
    expect(ignore.shift()).toBe('*')
    expect(ignore.map((line) => line.slice(1)).sort()).toEqual(sources.map((source) => source.replace('./', '')).sort())
  })
})

describe('the health check', () => {
  let v2: Upstream
  let proxy: TestProxy

  beforeAll(async () => {
    v2 = await startUpstream(answering({}))
    proxy = await startProxy({ 'upstream.v2': v2.url, 'admin.token': 'that-no-check-has-at-hand' })
  })
  afterAll(() => v2.close())

  /** Exit code of the very command in the file. */
  const check = (port: string) =>
    new Promise<number>((resolve) => {
      const [, command = '[]'] = /^HEALTHCHECK .* CMD (\[.*\])$/m.exec(lines.join('\n')) ?? []
      const [program = '', ...argv] = JSON.parse(command)
      execFile(program, argv, { env: { PATH: process.env.PATH, CROSSWALK_ADMIN_PORT: port } }, (error) => resolve(Number(error?.code ?? 0)))
    })

  it('needs nothing but node, and tells a proxy that lives from one that does not', async () => {
    const { port } = new URL(proxy.adminUrl)
    expect(await check(port)).toBe(0)
    await proxy.close()
    expect(await check(port)).toBe(1)
  })
})
