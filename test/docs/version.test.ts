import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const { version } = JSON.parse(readFileSync('package.json', 'utf8'))

it('has the version of package.json in the lock file', () => {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'))
  expect([lock.version, lock.packages[''].version]).toEqual([version, version])
})

it('has the version of package.json in the image of the Kubernetes manifests', () => {
  expect(readFileSync('docker/kubernetes/base/deployment.yaml', 'utf8')).toContain(`/crosswalk:${version}\n`)
  expect(readFileSync('docker/kubernetes/example/kustomization.yaml', 'utf8')).toContain(`newTag: ${version} }\n`)
})

it('has the version of package.json in the Helm chart', () => {
  const chart = readFileSync('docker/helm/crosswalk/Chart.yaml', 'utf8')
  expect(chart.match(/^(version|appVersion): .*$/gm)).toEqual([`version: ${version}`, `appVersion: ${version}`])
})

it('has the version of package.json in the labels of the image, and in its tags', () => {
  expect(readFileSync('docker/Dockerfile', 'utf8')).toContain(`ARG VERSION=${version}\n`)
  expect(readFileSync('docker/docker-bake.hcl', 'utf8')).toContain(`variable "VERSION" { default = "${version}" }`)
})

it('has dated notes on the current version, below those on unreleased changes', () => {
  const [unreleased, newest] = readFileSync('CHANGELOG.md', 'utf8').match(/^## .+$/gm) ?? []
  expect(unreleased).toBe('## Unreleased')
  expect(newest).toMatch(new RegExp(`^## ${version.replaceAll('.', '\\.')} - \\d{4}-\\d\\d-\\d\\d$`))
})
