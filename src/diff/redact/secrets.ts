/** Ends of member and parameter names, in lower case without separators, whose values are secrets (facts §3.6, §3.8). */
const SECRET_ENDS = [
  'secret',
  'token',
  'password',
  'passphrase',
  'apikey',
  'privatekey',
  'issuerkeys',
  'credential',
  'credentials',
  'authorization',
  'cookie',
  'assertion',
  'code',
]

/** Whether a member of this name holds a secret: `client_secret`, `aws_token`, an invite's `code`. Numbers are never secrets. */
export function isSecretName(name: string): boolean {
  const plain = name.toLowerCase().replace(/[^a-z0-9]/g, '')
  return SECRET_ENDS.some((end) => plain.endsWith(end))
}

/** Texts that are secrets wherever they stand. Texts are anybody's, so each pattern must find or give up in one walk along them. */
const SECRET_PATTERNS: readonly RegExp[] = [
  // JSON Web Tokens, whole or in part: the beginning of a JSON object in base64.
  /\beyJ[\w-]{8,}(?:\.[\w-]*){0,2}/g,
  /\b(?:bearer|basic)\s+[\w.~+/=-]+/gi,
  /-----BEGIN [A-Z ]+-----[\s\S]*?(?:-----END [A-Z ]+-----|$)/g,
  // Keys that say what they are: AWS, GitHub, GitLab, Slack, Google, Stripe.
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\b(?:gh[pousr]_|github_pat_|glpat-|xox[abprs]-|AIza|ya29\.|sk[-_]|rk_)[\w.-]{8,}/g,
  // The user part of an address, and parameters of it that are secrets by name.
  /(?<=:\/\/)[^\s/@]+@/g,
  /(?<=[?&](?:[\w.-]*(?:token|secret|password|key|code|signature|sig))=)[^&\s#]+/gi,
]

/** What stands in the place of a secret. */
export const HIDDEN = '[hidden]'

/** The text with every recognizable secret replaced. */
export function withoutSecrets(text: string): string {
  return SECRET_PATTERNS.reduce((result, pattern) => result.replace(pattern, HIDDEN), text)
}
