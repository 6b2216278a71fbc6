import type { Explained } from '../explained.ts'

/** Faults of the facts that neither the tables nor a message can show. */
export const explainedFacts: readonly Explained[] = [
  {
    name: /^v1 chainguard\.platform\.tenant\.VulnerabilityMatch\.fix: no longer optional$/,
    because: 'a field with a message is absent when unset, optional or not',
  },
  {
    name: /^v2 chainguard\.platform\.vulnerabilities\.v2\.Advisory\.delete_time: no longer optional$/,
    because: 'a field with a message is absent when unset, optional or not',
  },
  {
    name: /^v2 chainguard\.platform\.iam\.v2\.IdentityProvider\.oidc: out of its oneof$/,
    because: 'the only member of its oneof, and a message',
  },
  {
    name: /^v1 chainguard\.platform\.argos\.(?:Event\.fixed: (?:renamed|another number)|Affected\.database_specific: its JSON name derived)$/,
    because: 'only v1 answers these messages, and gRPC passes them on as bytes; the vectors hold none of this depth as JSON',
  },
]
