import { int32, listOf, type Message, mapOf, nested, text } from '../../messages/message.ts'

const PACKAGE = 'chainguard.platform.registry.v2.CustomOverlay'

const NAMED_CONTENT = { name: text({ required: true }), content: text({ required: true }) }

/** Refuses keys that the platform sets itself (semantics §3.10). */
const withoutPrefixes =
  (label: string, prefixes: readonly string[]) =>
  (value: Readonly<Record<string, string>>): string | undefined => {
    const reserved = Object.keys(value).find((key) => prefixes.some((prefix) => key.startsWith(prefix)))
    return reserved === undefined ? undefined : `${label} ${JSON.stringify(reserved)} is reserved`
  }

const CONTENTS: Message = {
  name: `${PACKAGE}.ImageContents`,
  fields: {
    packages: listOf(text()),
    runtimeRepositories: listOf(text()),
    runtimeKeyring: listOf(nested({ name: `${PACKAGE}.ImageContents.RuntimeKeyringEntry`, fields: NAMED_CONTENT })),
  },
}

const ACCOUNTS: Message = {
  name: `${PACKAGE}.Accounts`,
  fields: {
    runAs: text(),
    users: listOf(
      nested({
        name: `${PACKAGE}.Accounts.User`,
        fields: { username: text({ required: true }), uid: int32(), gid: int32(), groupName: text(), shell: text(), homeDir: text() },
      }),
    ),
    groups: listOf(
      nested({
        name: `${PACKAGE}.Accounts.Group`,
        fields: { groupname: text({ required: true }), gid: int32(), members: listOf(text()) },
      }),
    ),
  },
}

const CERTIFICATES: Message = {
  name: `${PACKAGE}.Certificates`,
  fields: {
    additional: listOf(nested({ name: `${PACKAGE}.Certificates.AdditionalEntry`, fields: NAMED_CONTENT })),
    providers: listOf(text()),
  },
}

/** A customer's additions to an image (semantics §3.10). */
export const customOverlayMessage: Message = {
  name: PACKAGE,
  fields: {
    contents: nested(CONTENTS),
    environment: mapOf(text(), { check: withoutPrefixes('variable', ['CHAINGUARD_']) }),
    annotations: mapOf(text(), { check: withoutPrefixes('annotation', ['dev.chainguard.', 'org.opencontainers.']) }),
    accounts: nested(ACCOUNTS),
    certificates: nested(CERTIFICATES),
  },
}
