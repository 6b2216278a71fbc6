import type { ServerResponse } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { notifierFor, startWebhook, type TestNotifier, type TestWebhook } from './webhook.ts'

/** A receiver that answers when it is told to. */
async function startSlow(): Promise<TestWebhook & { open(): void; held(): Promise<void> }> {
  const waiting: ServerResponse[] = []
  let isOpen = false
  const webhook = await startWebhook(
    Array(2000).fill((_: unknown, response: ServerResponse) => void (isOpen ? response.writeHead(204).end() : waiting.push(response))),
  )
  onTestFinished(webhook.close)
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

const closed = (notifier: TestNotifier) => {
  onTestFinished(notifier.close)
  return notifier
}

describe('a notifier', () => {
  it('sends nothing before the caller has gone on', async () => {
    const webhook = await startSlow()
    const notifier = closed(notifierFor(webhook))
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
    const notifier = closed(notifierFor(webhook, { closingMs: 1 }))
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
    const notifier = closed(notifierFor(webhook, { room: { events: 10, bytes: 100_000 } }))
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
    const notifier = closed(notifierFor(webhook, { room: { events: 10, bytes: 1000 } }))
    notifier.send('first')
    await webhook.held()
    notifier.send(...names(8))
    expect(notifier.counts().waiting).toBeLessThan(6)
    notifier.send('x'.repeat(1000))
    expect(notifier.counts()).toMatchObject({ dropped: 9, waiting: 1 })
    webhook.open()
  })

  it('sends a test event, and returns its id', async () => {
    const webhook = await startWebhook()
    onTestFinished(webhook.close)
    const notifier = closed(notifierFor(webhook))
    const id = notifier.ping()
    await notifier.idle()
    expect(webhook.events()).toMatchObject([{ id, type: 'crosswalk.ping', data: { what: 'ping' } }])
  })
})

describe('a notifier that is closed', () => {
  it('sends what waits first', async () => {
    const webhook = await startWebhook()
    onTestFinished(webhook.close)
    const notifier = notifierFor(webhook)
    notifier.send(...names(20))
    await notifier.close()
    expect(subjects(webhook)).toEqual(names(20))
    expect(notifier.warned).toEqual([])
  })

  it('ends a pause, tries each event once more, and says what is lost', async () => {
    const webhook = await startWebhook([500, 500, 204, 500])
    onTestFinished(webhook.close)
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
