import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { hasProgram, printed } from './programs.ts'
import { checkInPod, type Manifest, manifestsIn } from './read.ts'
import { faultsOf, hasSchemas } from './schemas.ts'

const ROOT = 'docker/kubernetes'

const COMPONENTS = readdirSync(ROOT).filter((name) => !['base', 'example'].includes(name))

/** What `kubectl apply -k` would send. */
const built = (folder: string) => manifestsIn(printed('kubectl', 'kustomize', folder))

/** The base with one component. */
function withComponent(name: string): readonly Manifest[] {
  const folder = mkdtempSync(join(ROOT, '.component-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'kustomization.yaml'), JSON.stringify({ resources: ['../base'], components: [`../${name}`] }))
  return built(folder)
}

const names = (all: readonly Manifest[]) => all.map(({ kind, metadata }) => `${kind} ${metadata.name}`)

const find = (all: readonly Manifest[], kind: string) => all.find((manifest) => manifest.kind === kind)

describe.runIf(hasProgram('kubectl', 'version', '--client') && hasSchemas())('kustomize', () => {
  it('builds nothing that is wrong, or has a member too many, without a word', () => {
    const { spec, ...rest } = built(join(ROOT, 'base')).find(({ kind }) => kind === 'Deployment')!
    expect(faultsOf({ ...rest, spec: { ...spec, replicas: 'two' } } as Manifest)).toEqual([expect.stringContaining('/spec/replicas')])
    expect(faultsOf({ ...rest, spec: { ...spec, replica: 2 } } as Manifest)).toEqual(['/spec/replica is not in the schema'])
  })

  it.each(['base', 'example'])('builds %s from manifests that fit the schemas', (name) => {
    const all = built(join(ROOT, name))
    expect(all.flatMap(faultsOf)).toEqual([])
    expect(new Set(names(all)).size).toBe(all.length)
  })

  it.each(COMPONENTS)('adds %s to the base, and what it adds fits the schemas', (name) => {
    const all = withComponent(name)
    expect(all.flatMap(faultsOf)).toEqual([])
    expect(all.map(({ metadata }) => metadata.namespace)).toEqual(all.map(() => undefined))
    expect(all.length).toBeGreaterThan(built(join(ROOT, 'base')).length)
  })

  it.each(['base', 'example', ...COMPONENTS])('builds a pod of %s that starts beside Services of any name', async (name) => {
    const all = COMPONENTS.includes(name) ? withComponent(name) : built(join(ROOT, name))
    for (const links of [undefined, true]) expect(await checkInPod(all, links)).toMatchObject({ code: 0, err: '' })
  })

  it('puts all of the example into its namespace, with the image that it names', () => {
    const all = built(join(ROOT, 'example'))
    const { namespace, images } = parse(readFileSync(join(ROOT, 'example/kustomization.yaml'), 'utf8'))
    expect(new Set(all.map(({ metadata }) => metadata.namespace))).toEqual(new Set([namespace]))
    const [{ newName, newTag }] = images
    expect(find(all, 'Deployment')?.spec.template.spec.containers[0].image).toBe(`${newName}:${newTag}`)
  })

  it('gives each pod a record file of its own on the volume, and leaves the rest of the pod as it was', () => {
    const pod = (all: readonly Manifest[]) => find(all, 'Deployment')?.spec.template.spec
    const [before, after] = [pod(built(join(ROOT, 'base'))), pod(withComponent('records'))]
    const [container] = after.containers
    const { mountPath } = container.volumeMounts.find((mount: { name: string }) => mount.name === 'records')
    const file = container.env.find((one: { name: string }) => one.name === 'CROSSWALK_RECORDS_FILE').value
    expect(file).toBe(`${mountPath}/$(POD_NAME).ndjson`)
    // Kubernetes fills in variables that come earlier in the list alone.
    const at = (name: string) => container.env.findIndex((one: { name: string }) => one.name === name)
    expect(at('POD_NAME')).toBeLessThan(at('CROSSWALK_RECORDS_FILE'))
    expect(container.env).toEqual(expect.arrayContaining(before.containers[0].env))
    expect(container.volumeMounts).toEqual(expect.arrayContaining(before.containers[0].volumeMounts))
    expect(after.volumes).toEqual(expect.arrayContaining(before.volumes))
  })
})
