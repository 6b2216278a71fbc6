import { humanUid } from './human-uid.ts'

/** The issuer the demo users signed in with: `lookupIdentity` with it and the email address finds their uid. */
export const demoIssuer = 'https://accounts.example.com'

/** A fixed bearer token and the user it stands for. Data that wants these tokens to work holds an identity of that uid. */
export type DemoToken = {
  readonly token: string
  /** Name of the identity: what a role binding shows. */
  readonly name: string
  /** Verified email address, which is also the user's subject at `demoIssuer`. */
  readonly email: string
  readonly uid: string
  /** What data sets are expected to make of it. */
  readonly standsFor: string
}

const demoToken = (token: string, email: string, standsFor: string): DemoToken => ({
  token,
  name: email,
  email,
  uid: humanUid(demoIssuer, email),
  standsFor,
})

export const demoTokens: readonly DemoToken[] = [
  demoToken('demo-owner', 'alice@example.com', 'owner of example.com'),
  demoToken('demo-editor', 'bob@example.com', 'editor of example.com'),
  demoToken('demo-viewer', 'carol@example.com', 'viewer of example.com'),
  demoToken('demo-outsider', 'eve@acme.dev', 'owner of acme.dev, a stranger to example.com'),
  demoToken('demo-admin', 'admin@sandbox.dev', 'service staff: every capability, internal ones included, on every organization'),
]

const byToken: ReadonlyMap<string, DemoToken> = new Map(demoTokens.map((one) => [one.token, one]))

/** The user a demo token stands for, or undefined for any other text. */
export const demoTokenOf = (token: string): DemoToken | undefined => byToken.get(token)
