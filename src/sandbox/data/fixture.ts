import { hash } from 'node:crypto'

const digestOf = (algorithm: 'sha1' | 'sha256', text: string): string => hash(algorithm, text)

/**
 * The uid of a fixture. It is derived from the label, so that a new fixture never changes another's uid. An empty parent makes a root uid.
 */
export const fixtureUid = (parent: string, label: string): string => {
  const hex = digestOf('sha1', `${parent}\n${label}`)
  return parent === '' ? hex : `${parent}/${hex.slice(0, 16)}`
}

/** An image digest derived from a label. */
export const fixtureDigest = (label: string): string => `sha256:${digestOf('sha256', label)}`

/** Both dates of a row that was never changed. */
export const dated = (time: string) => ({ createTime: time, updateTime: time })

/** The time `days` after a date of the form `2026-01-23`, at nine in the morning. */
export const dayAfter = (date: string, days: number): string =>
  new Date(Date.parse(`${date}T09:00:00Z`) + days * 24 * 60 * 60 * 1000).toISOString()
