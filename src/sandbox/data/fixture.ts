import { createHash } from 'node:crypto'

const digestOf = (algorithm: 'sha1' | 'sha256', text: string): string => createHash(algorithm).update(text).digest('hex')

/**
 * The uid of a fixture: worked out from its label, so that adding one fixture never changes the uid of another. An empty parent makes
 * a root uid.
 */
export const fixtureUid = (parent: string, label: string): string => {
  const hex = digestOf('sha1', `${parent}\n${label}`)
  return parent === '' ? hex : `${parent}/${hex.slice(0, 16)}`
}

/** An image digest made from a label. */
export const fixtureDigest = (label: string): string => `sha256:${digestOf('sha256', label)}`

/** Both dates of a row that was never changed. */
export const dated = (time: string) => ({ createTime: time, updateTime: time })

/** `days` after a date of the form `2026-01-23`, at nine in the morning. */
export const dayAfter = (date: string, days: number): string =>
  new Date(Date.parse(`${date}T09:00:00Z`) + days * 24 * 60 * 60 * 1000).toISOString()
