import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { askedPause, createSign, EVENT_TYPES, notificationOf, PING, pauseAfter, WHOLE_TYPES } from '../../src/admin/notify.ts'
import { loadConfig, notifySettings } from '../../src/app/config/config.ts'
import { iamRules, PERSON, simulate } from '../migrate/rollout/stage.ts'
import { NEXT, notifierFor, problemsOf, SAMPLES, SECRET, startWebhook, type TestWebhook, TYPES, verified, WRONG } from './notes.ts'

describe('notification', () => {
  const [AT, SOURCE] = ['2026-01-01T00:00:00.000Z', 'urn:crosswalk:test']
  const eventOf = (note: (typeof SAMPLES)[number]) => notificationOf({ kind: 'note', id: 'an-id', at: AT, ...note }, SOURCE)

  it.each(SAMPLES)('becomes an event within the published schema: $what $operation', (note) => {
    expect(problemsOf(eventOf(note))).toEqual([])
  })

  it('has a type for each kind of note, which the schema lists and a sample shows', () => {
    const types = [...Object.values(EVENT_TYPES), ...Object.values(WHOLE_TYPES)].map(({ type }) => type)
    expect([...types, PING].sort()).toEqual([...TYPES].sort())
    expect([...new Set(SAMPLES.map((note) => eventOf(note).type))].sort()).toEqual(types.sort())
  })

  it('has the operation or the rollout as its subject, and the note without its envelope as its data', () => {
    const [circuit, , modes, rollout] = SAMPLES.map(eventOf)
    expect([circuit?.subject, modes?.subject, rollout?.subject]).toEqual(['registry.repos.list', undefined, 'iam-reads'])
    expect(circuit).toMatchObject({ id: 'an-id', source: SOURCE, time: AT, data: SAMPLES[0] })
    expect(Object.keys(circuit?.data ?? {}).sort()).toEqual(Object.keys(SAMPLES[0] ?? {}).sort())
  })

  it('cuts texts that are too long for a receiver', () => {
    const long = 'x'.repeat(300_000)
    const event = eventOf({ what: 'modes', text: long, from: long, to: long })
    expect(problemsOf(event)).toEqual([])
    expect(JSON.stringify(event).length).toBeLessThan(20_000)
  })

  it('names a rollout in each event of its run', () => {
    const simulation = simulate(iamRules())
    simulation.minutes(40)
    expect(simulation.rollouts.steer('iam', 'pause', PERSON) ?? 'paused').toBe('paused')
    const notes = simulation.entries.flatMap((entry) => (entry.kind === 'note' ? [notificationOf({ ...entry, id: 'an-id' }, SOURCE)] : []))
    expect(notes.length).toBeGreaterThan(3)
    expect([...new Set(notes.map(({ type, subject }) => `${type} ${subject}`))]).toEqual(['crosswalk.rollout.moved iam'])
    expect(notes.flatMap(problemsOf)).toEqual([])
  })
})

describe('notifier', () => {
  /** A receiver that answers when it is told to. */
  async function startSlow(): Promise<TestWebhook & { open(): void; held(): Promise<void> }> {
    const waiting: ServerResponse[] = []
    let isOpen = false
    const webhook = await startWebhook(
      Array(2000).fill((_: unknown, response: ServerResponse) => void (isOpen ? response.writeHead(204).end() : waiting.push(response))),
    )
    return {
      ...webhook,
      open() {
        isOpen = true
        for (const response of waiting) response.writeHead(204).end()
      },
      async held() {
        while (waiting.length === 0) await setImmediate()
      },
    }
  }

  const names = (count: number) => Array.from({ length: count }, (_, nth) => `n${nth}`)
  const subjects = (webhook: TestWebhook) => webhook.events().map(({ subject }) => subject)

  describe('a notifier', () => {
    it('sends nothing before the caller has gone on', async () => {
      const webhook = await startSlow()
      const notifier = notifierFor(webhook)
      notifier.send('a')
      await Promise.resolve()
      expect(notifier.counts()).toEqual({ sent: 0, failed: 0, dropped: 0, waiting: 1 })
      expect(webhook.seen).toEqual([])
      webhook.open()
    })

    it('keeps a thousand events in order while the receiver is slow, over one connection', async () => {
      const webhook = await startSlow()
      let connections = 0
      webhook.server.on('connection', () => {
        connections += 1
      })
      const notifier = notifierFor(webhook, { closingMs: 1 })
      notifier.send(...names(1000))
      await webhook.held()
      expect(notifier.counts()).toEqual({ sent: 0, failed: 0, dropped: 0, waiting: 1000 })
      expect(webhook.seen).toHaveLength(1)
      webhook.open()
      while (webhook.seen.length < 150) await setImmediate()
      expect(webhook.seen.slice(0, 150).map(({ body }) => JSON.parse(body).subject)).toEqual(names(150))
      expect(connections).toBe(1)
    })

    it('drops the oldest events when too many wait, counts them and says so once', async () => {
      const webhook = await startSlow()
      const notifier = notifierFor(webhook, { room: { events: 10, bytes: 100_000 } })
      notifier.send('first')
      await webhook.held()
      notifier.send(...names(100))
      expect(notifier.counts()).toMatchObject({ dropped: 90, waiting: 11 })
      expect(notifier.warned).toEqual([`too many notifications wait for ${webhook.url}: the oldest are dropped until it takes one`])
      webhook.open()
      await notifier.idle()
      expect(subjects(webhook)).toEqual(['first', ...names(100).slice(90)])
    })

    it('holds a bounded number of bytes', async () => {
      const webhook = await startSlow()
      const notifier = notifierFor(webhook, { room: { events: 10, bytes: 1000 } })
      notifier.send('first')
      await webhook.held()
      notifier.send(...names(8))
      expect(notifier.counts().waiting).toBeLessThan(6)
      notifier.send('x'.repeat(1000))
      expect(notifier.counts()).toMatchObject({ dropped: 9, waiting: 1 })
      webhook.open()
    })
  })

  describe('a notifier that is closed', () => {
    it('sends what waits first', async () => {
      const webhook = await startWebhook()
      const notifier = notifierFor(webhook)
      notifier.send(...names(20))
      await notifier.close()
      expect(subjects(webhook)).toEqual(names(20))
      expect(notifier.warned).toEqual([])
    })

    it('ends a pause, tries each event once more, and says what is lost', async () => {
      const webhook = await startWebhook([500, 500, 204, 500])
      const pausing: AbortSignal[] = []
      const notifier = notifierFor(webhook, {
        pause: (_, signal) =>
          new Promise((resolve) => {
            pausing.push(signal)
            signal.addEventListener('abort', () => resolve())
            if (signal.aborted) resolve()
          }),
      })
      notifier.send('a', 'b', 'c')
      while (pausing.length === 0) await setImmediate()
      await notifier.close()
      expect(subjects(webhook)).toEqual(['a', 'a', 'b', 'c'])
      expect(notifier.counts()).toMatchObject({ sent: 1, failed: 0, dropped: 2, waiting: 0 })
      expect(notifier.warned.at(-1)).toBe(`2 notifications did not reach ${webhook.url} before the end and are lost`)
    })

    it('gives up on a receiver that hangs', async () => {
      const webhook = await startSlow()
      const notifier = notifierFor(webhook, { closingMs: 50 })
      notifier.send(...names(3))
      await webhook.held()
      await notifier.close()
      expect(notifier.counts()).toMatchObject({ sent: 0, dropped: 3, waiting: 0 })
      expect(notifier.warned).toEqual([`3 notifications did not reach ${webhook.url} before the end and are lost`])
    })
  })
})

describe('retry pause', () => {
  it('doubles from one second to five minutes', () => {
    expect([1, 2, 3, 8, 9, 10, 5000].map((failures) => pauseAfter(failures, () => 0))).toEqual([
      1000, 2000, 4000, 128_000, 256_000, 300_000, 300_000,
    ])
  })

  it('is shortened by up to a half at random', () => {
    expect([0, 0.5, 0.99].map((chance) => pauseAfter(1, () => chance))).toEqual([1000, 750, 505])
  })

  it.each([
    ['120', 120_000],
    ['Thu, 01 Jan 1970 00:00:20 GMT', 10_000],
    ['Thu, 01 Jan 1970 00:00:05 GMT', 0],
    ['86400', 3_600_000],
    ['-1', 0],
    ['1.5 hours', 0],
    [undefined, 0],
  ])('reads what a receiver asks for: %j', (header, ms) => {
    expect(askedPause(header, 10_000)).toBe(ms)
  })
})

describe('settings', () => {
  const directory = mkdtempSync(join(tmpdir(), 'crosswalk-notify-'))
  afterAll(() => rmSync(directory, { recursive: true }))

  const load = (flags: Record<string, string>) => loadConfig({ flags, env: {} })
  const written = (name: string, text: string) => {
    writeFileSync(join(directory, name), text)
    return join(directory, name)
  }

  it('take an https address, or http on this machine, from a file too', () => {
    for (const url of ['https://hooks.example.com/a?token=b', 'http://127.0.0.1:9000/x', 'http://[::1]/', 'http://localhost']) {
      for (const given of [url, `@${written('receiver', `${url}\n`)}`]) {
        expect(load({ 'notify-url': given, 'notify-secret': SECRET })).toMatchObject({ config: { 'notify.url': url } })
      }
    }
  })

  it.each([
    'http://HIDDEN.example',
    'http://127.0.0.1.HIDDEN',
    'https://u:HIDDEN@x',
    'https://x/#HIDDEN',
    'ftp://HIDDEN',
    'HIDDEN',
    '@HIDDEN',
  ])('refuse %j as an address without showing it', (url) => {
    const loaded = load({ 'notify-url': url, 'notify-secret': SECRET })
    const says = /^notify\.url in the flag --notify-url (must be an address such as https|names a file that cannot be read)/
    expect(loaded).toHaveProperty('problem', expect.stringMatching(says))
    expect(JSON.stringify(loaded)).not.toContain('HIDDEN')
  })

  it('take several secrets, as text, as a list and line by line', () => {
    const list = written('list.json', JSON.stringify({ notify: { secret: [SECRET, NEXT] } }))
    const flags = [`${SECRET},${NEXT}`, `@${written('signing', `${SECRET}\n${NEXT}\n`)}`].map((text) => ({ 'notify-secret': text }))
    for (const loaded of [...flags, { config: list }].map(load)) {
      if ('problem' in loaded) throw new Error(loaded.problem)
      expect(notifySettings(loaded.config).secrets).toEqual([SECRET, NEXT])
    }
  })

  const WRONG_SECRETS = [
    'HIDDEN',
    'whsec_',
    'whsec_HIDDEN',
    `whsec_${'HIDDEN/+'.repeat(20)}`,
    `whsec_${'HIDDEN!'.repeat(8)}`,
    'HIDDEN'.repeat(9),
  ]

  it.each(WRONG_SECRETS)('refuse %j as a secret without showing it', (text) => {
    for (const given of [text, `${SECRET},${text}`]) {
      const loaded = load({ 'notify-secret': given })
      expect(loaded).toHaveProperty('problem', expect.stringMatching(/^notify\.secret in the .* must be whsec_ and 24 to 64 random bytes/))
      expect(JSON.stringify(loaded)).not.toContain('HIDDEN')
    }
  })

  it('refuse an address without a secret, and the own address', () => {
    const url = 'http://127.0.0.1:8081/notify/test?token=HIDDEN'
    expect(load({ 'notify-url': url })).toHaveProperty(
      'problem',
      expect.stringMatching(/^notify\.url is set without notify\.secret.*openssl rand/),
    )
    expect(load({ 'notify-url': url, 'notify-secret': SECRET })).toEqual({
      problem: "notify.url is the proxy's own address (admin.host, admin.port), which takes no events; give the address of a receiver.",
    })
  })

  it.each([
    ['urn:crosswalk:eu', true],
    ['https://crosswalk.example.com/eu', true],
    ['eu', false],
    ['urn:with space', false],
  ])('judge %j as a source', (source, isRight) => {
    expect('config' in load({ 'notify-source': source })).toBe(isRight)
  })
})

describe('signature', () => {
  const BODY = '{"a":"é"}'

  const signed = (secrets: readonly string[], now = Date.now()) => {
    return { method: 'POST', url: '/', body: BODY, headers: { ...createSign(secrets)('id', BODY, now) } }
  }

  it('is what a verifier of Standard Webhooks accepts, by its secret alone', () => {
    expect(verified(signed([SECRET]), SECRET)).toEqual({ a: 'é' })
    expect(() => verified(signed([SECRET]), WRONG)).toThrow('No matching signature')
  })

  it('is made with each secret, so that a receiver may know the old or the next one', () => {
    for (const secret of [SECRET, NEXT]) expect(verified(signed([SECRET, NEXT]), secret)).toEqual({ a: 'é' })
    expect(() => verified(signed([SECRET, NEXT]), WRONG)).toThrow('No matching signature')
  })

  it('covers the time of the attempt, so that an old event cannot be sent again', () => {
    expect(() => verified(signed([SECRET], Date.now() - 600_000), SECRET)).toThrow('too old')
  })
})
