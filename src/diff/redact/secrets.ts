/** Suffixes of member and parameter names whose values are secrets, in lower case without separators (facts §3.6, §3.8). */
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

/** True if a member of this name holds a secret: `client_secret`, `aws_token`, an invite's `code`. Numbers are never secrets. */
export function isSecretName(name: string): boolean {
  const plain = name.toLowerCase().replace(/[^a-z0-9]/g, '')
  return SECRET_ENDS.some((end) => plain.endsWith(end))
}

/** Texts that are secrets wherever they occur. Clients choose the texts, so each pattern must match or fail in one pass. */
const SECRET_PATTERNS: readonly RegExp[] = [
  // JSON Web Tokens, whole or in part: they begin with a JSON object in base64.
  /\beyJ[\w-]{8,}(?:\.[\w-]*){0,2}/g,
  /\b(?:bearer|basic)\s+[\w.~+/=-]+/gi,
  /-----BEGIN [A-Z ]+-----[\s\S]*?(?:-----END [A-Z ]+-----|$)/g,
  // Keys with a recognizable prefix: AWS, GitHub, GitLab, Slack, Google, Stripe.
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\b(?:gh[pousr]_|github_pat_|glpat-|xox[abprs]-|AIza|ya29\.|sk[-_]|rk_)[\w.-]{8,}/g,
  // The user part of a URL, and parameters of it whose names are secret.
  /(?<=:\/\/)[^\s/@]+@/g,
  /(?<=[?&](?:[\w.-]*(?:token|secret|password|key|code|signature|sig))=)[^&\s#]+/gi,
]

/** Replaces a secret. */
export const HIDDEN = '[hidden]'

/** Returns the text with every recognizable secret replaced. */
export function withoutSecrets(text: string): string {
  return SECRET_PATTERNS.reduce((result, pattern) => result.replace(pattern, HIDDEN), text)
}
