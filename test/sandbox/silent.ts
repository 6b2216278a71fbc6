/** Writes that send no event (semantics §2.3, §7.1): checks, requests for access, a caller's own metadata, and tokens. */
export const SILENT: readonly string[] = [
  'POST /-/token',
  'POST /iam/v1/account_associations/{group=**}:check',
  'PATCH /iam/v1/identities/metadata',
  'POST /iam/v1/groups/{group_id=**}:requestGroupAccess',
  'POST /iam/v2/accountAssociations/{uid=**}:checkAccountAssociation',
  'POST /iam/v2/groups/{group_uid=**}:requestGroupAccess',
  'PATCH /iam/v2/identities:updateIdentityMetadata',
  'POST /sts/exchange',
  'POST /sts/exchange_refresh_token',
]
