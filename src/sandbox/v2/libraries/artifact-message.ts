import { choice, int32, int64, type Message, outputText, outputTime, text } from '../../messages/message.ts'

const PACKAGE = 'chainguard.platform.libraries.v2'

/** By number (facts §18). */
export const ECOSYSTEMS: readonly string[] = ['ECOSYSTEM_UNSPECIFIED', 'ECOSYSTEM_JAVA', 'ECOSYSTEM_PYTHON']

/** (semantics §3.14) */
export const artifactMessage: Message = {
  name: `${PACKAGE}.Artifact`,
  fields: {
    uid: outputText,
    name: text(),
    description: text(),
    ecosystem: choice(ECOSYSTEMS),
    latestVersion: text(),
    versionCount: int32(),
    createTime: outputTime,
    updateTime: outputTime,
  },
}

export const artifactVersionMessage: Message = {
  name: `${PACKAGE}.ArtifactVersion`,
  fields: {
    uid: outputText,
    name: text(),
    version: text(),
    description: text(),
    createTime: outputTime,
    updateTime: outputTime,
    sizeBytes: int64(),
  },
}

/** The number of artifacts of one ecosystem. */
export const countMessage: Message = {
  name: `${PACKAGE}.GetArtifactCountResponse.EcosystemCount`,
  fields: { ecosystem: choice(ECOSYSTEMS), totalCount: int64() },
}
