import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { freePort } from '../stage/free-port.ts'
import { startProxy } from '../stage/proxy.ts'
import { until } from '../stage/until.ts'
import { hasProgram } from './programs.ts'
import { compose } from './read.ts'

/** What Prometheus tells of its targets and of its rules. */
interface Answer {
  readonly activeTargets: readonly { readonly health: string; readonly lastError: string }[]
  readonly groups: readonly { readonly rules: readonly { readonly name: string }[] }[]
}

const { services } = compose()
const read = (path: string) => readFileSync(`docker/monitoring/${path}`, 'utf8')
const env = services['crosswalk-1']?.environment ?? {}
const scraping = parse(read('prometheus.yaml'))
const [job] = scraping.scrape_configs

describe('monitoring in compose', () => {
  it('asks both proxies by names that they answer to, with the token that reads', () => {
    const names = job.static_configs[0].targets.map((target: string) => target.replace(/:8081$/, ''))
    expect(names.join(',')).toBe(env['CROSSWALK_ADMIN_NAMES'])
    expect(job.authorization).toEqual({ type: 'Bearer', credentials: env['CROSSWALK_ADMIN_READ_TOKEN'] })
  })

  it('mounts the files where Prometheus and Grafana look for each other', () => {
    const [source] = parse(read('datasources/prometheus.yaml')).datasources
    expect(new URL(source.url).hostname in services).toBe(true)
    expect(source.jsonData.timeInterval).toBe(scraping.global.scrape_interval)
    const [provider] = parse(read('dashboards/crosswalk.yaml')).providers
    const volumes = services['grafana']?.['volumes'] as readonly string[]
    expect(volumes).toContain(`./grafana-dashboard.json:${provider.options.path}/crosswalk.json:ro`)
    const rules = services['prometheus']?.['volumes'] as readonly string[]
    expect(rules).toContain(`./alerts.yaml:/etc/prometheus/${scraping.rule_files[0]}:ro`)
  })
})

describe.runIf(hasProgram('prometheus', '--version'))('Prometheus', () => {
  it('reads the proxies, and loads every alert', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'crosswalk-prometheus-'))
    const tokens = { 'admin.token': env['CROSSWALK_ADMIN_TOKEN'] ?? '', 'admin.readToken': env['CROSSWALK_ADMIN_READ_TOKEN'] ?? '' }
    const proxy = await startProxy({ 'upstream.v2': 'http://127.0.0.1:1', ...tokens })
    const here = read('prometheus.yaml').replace(/"crosswalk-1:8081", "crosswalk-2:8081"/, `"${new URL(proxy.adminUrl).host}"`)
    writeFileSync(join(folder, 'prometheus.yml'), here.replace('scrape_interval: 5s', 'scrape_interval: 1s'))
    writeFileSync(join(folder, 'alerts.yaml'), readFileSync('docker/alerts.yaml', 'utf8'))
    const port = await freePort()
    const argv = [`--config.file=${folder}/prometheus.yml`, `--storage.tsdb.path=${folder}/data`, `--web.listen-address=127.0.0.1:${port}`]
    const child = spawn('prometheus', argv, { stdio: 'ignore' })
    const ended = new Promise((resolve) => child.once('exit', resolve))
    onTestFinished(async () => {
      child.kill('SIGKILL')
      await Promise.all([ended, proxy.close()])
      rmSync(folder, { recursive: true, force: true })
    })
    const ask = async (path: string): Promise<Answer> => {
      const answer = (await (await fetch(`http://127.0.0.1:${port}/api/v1/${path}`)).json()) as { readonly data: Answer }
      return answer.data
    }
    const target = await until(async () => (await ask('targets')).activeTargets.find(({ health }) => health !== 'unknown'))
    expect([target.health, target.lastError]).toEqual(['up', ''])
    const { groups } = await ask('rules')
    const names = parse(readFileSync('docker/alerts.yaml', 'utf8')).groups[0].rules.map(({ alert }: { alert: string }) => alert)
    expect(groups[0]?.rules.map(({ name }) => name)).toEqual(names)
  })
})
