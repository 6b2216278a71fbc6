import { int64, listOf, type Message, mapOf, nested, outputText, outputTime, text } from '../../../messages/message.ts'
import { descriptionRule, nameRule } from '../../../messages/validate.ts'
import { awsAccountRule } from '../identities/identity-message.ts'

const PACKAGE = 'chainguard.platform.iam.v2.AccountAssociation'

const amazonMessage: Message = { name: `${PACKAGE}.Amazon`, fields: { account: text({ required: true, check: awsAccountRule }) } }

const googleMessage: Message = {
  name: `${PACKAGE}.Google`,
  fields: { projectId: text({ required: true }), projectNumber: text({ required: true }) },
}

const chainguardMessage: Message = { name: `${PACKAGE}.Chainguard`, fields: { serviceBindings: mapOf(text(), { required: true }) } }

const azureMessage: Message = {
  name: `${PACKAGE}.Azure`,
  fields: { tenantId: text({ required: true }), clientIds: mapOf(text(), { required: true }) },
}

const installationMessage: Message = {
  name: `${PACKAGE}.GitHubInstallation`,
  fields: { installationId: int64({ required: true }), name: text() },
}

const installationsMessage: Message = {
  name: `${PACKAGE}.GitHubAppInstallations`,
  fields: { installations: listOf(nested(installationMessage)) },
}

const githubMessage: Message = { name: `${PACKAGE}.GitHub`, fields: { appInstallations: mapOf(nested(installationsMessage)) } }

/** (semantics §3.8) */
export const accountAssociationMessage: Message = {
  name: PACKAGE,
  fields: {
    uid: outputText,
    name: text({ required: true, check: nameRule }),
    description: text({ check: descriptionRule }),
    amazon: nested(amazonMessage),
    google: nested(googleMessage),
    chainguard: nested(chainguardMessage),
    azure: nested(azureMessage),
    createTime: outputTime,
    updateTime: outputTime,
    github: nested(githubMessage),
  },
}
