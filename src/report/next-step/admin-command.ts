import type { ModeRule, ModeRules } from '../../migrate/modes/rules.ts'
import { shellQuoted } from '../../tables/check.ts'

/** How the admin port is reached: the address that the page was opened by, and whether the port asks for a token. */
export interface AdminAddress {
  /** `http://127.0.0.1:8081` */
  readonly origin: string
  readonly hasToken: boolean
}

/** A change of the rules in force: other rules, and the version that they replace. */
export interface RulesChange {
  readonly rules: ModeRules
  readonly tag: string
}

/** Returns the command that puts other rules in force, unless somebody else changed them since. */
export function putModes(admin: AdminAddress, { rules, tag }: RulesChange): string {
  const options = [
    ...authorization(admin),
    `-H 'Content-Type: application/json'`,
    `-H 'If-Match: "${tag}"'`,
    `-d ${shellQuoted(rulesText(rules))}`,
  ]
  return [`curl -sS --fail-with-body -X PUT ${word(`${admin.origin}/modes`)}`, ...options].join(' \\\n  ')
}

/** Returns the command that steers a rollout. */
export function postRollout(admin: AdminAddress, name: string, command: string): string {
  const url = word(`${admin.origin}/rollouts/${encodeURIComponent(name)}/${command}`)
  return [`curl -sS --fail-with-body -X POST ${url}`, ...authorization(admin)].join(' \\\n  ')
}

/** Returns a command of Crosswalk that asks this admin port. It reads the token from its environment. */
export function askCrosswalk({ origin, hasToken }: AdminAddress, words: readonly string[]): string {
  const token = hasToken ? 'CROSSWALK_ADMIN_TOKEN="$ADMIN_TOKEN" ' : ''
  return `${token}crosswalk ${[...words, '--admin', origin].map(word).join(' ')}`
}

/** Returns the rules as JSON with one line for each rule, without what they say by default. */
export function rulesText({ default: byDefault, rules, testers }: ModeRules): string {
  if (rules.length === 0 && testers.length === 0) return JSON.stringify({ default: byDefault })
  const lines = rules.map((rule) => `    ${JSON.stringify(shortened(rule))}`)
  const members = [
    `  "default": ${JSON.stringify(byDefault)}`,
    ...(lines.length > 0 ? [`  "rules": [\n${lines.join(',\n')}\n  ]`] : []),
    ...(testers.length > 0 ? [`  "testers": ${JSON.stringify(testers)}`] : []),
  ]
  return `{\n${members.join(',\n')}\n}`
}

function shortened({ operations, clients, ...rest }: ModeRule): object {
  return { operations, ...(clients !== '*' && { clients }), ...rest }
}

function authorization({ hasToken }: AdminAddress): readonly string[] {
  return hasToken ? ['-H "Authorization: Bearer $ADMIN_TOKEN"'] : []
}

/** Returns a word of a command, quoted if a shell would read more than its letters. */
export function word(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : shellQuoted(text)
}
