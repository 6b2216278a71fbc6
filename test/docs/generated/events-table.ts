import { EVENT_TYPES, notificationOf, PING, pingOf, WHOLE_TYPES } from '../../../src/admin/notify.ts'
import { SAMPLES } from '../../notify/sample-notes.ts'

const [AT, SOURCE] = ['2026-11-24T14:05:00.000Z', 'urn:crosswalk:eu-1']
const MEANS = new Map([...Object.values(EVENT_TYPES), ...Object.values(WHOLE_TYPES)].map(({ type, means }) => [type, means]))

/** Every type of event with an example, as Markdown, and one event as it is sent. */
export function eventsTable(): string {
  const events = SAMPLES.map((note, nth) => notificationOf({ kind: 'note', id: `${nth}`, at: AT, ...note }, SOURCE))
  const rows = [...events, pingOf('', AT, SOURCE)].map(({ type, subject, data }) => {
    const means = type === PING ? 'A person tries the receiver: `POST /notify/test`' : MEANS.get(type)
    return `| \`${type}\` | ${means} | ${subject === undefined ? '–' : `\`${subject}\``} | \`${JSON.stringify(data)}\` |`
  })
  const [first] = events
  const whole = { ...first, id: '6f1b0e0e-6f0c-4a39-9d6c-2f6d7f1f3f5a' }
  return [
    '```js',
    JSON.stringify(whole, null, 2),
    '```',
    '',
    '| Type | Sent when | Subject | Example of `data` |',
    '|---|---|---|---|',
    ...rows,
  ].join('\n')
}
