/** Deviations of one kind, as lines of `deviationsOf`. */
export interface DocumentDeviation {
  readonly lines: RegExp
  readonly because: string
}

/** Where the document of the published dialect is not as the published contract of v1, and why. */
export const documentDeviations: readonly DocumentDeviation[] = [
  { lines: /^\w+ \/sts\/.*: missing$/, because: 'the proxy passes /sts on to v2, which publishes the same paths' },
  {
    lines: /^POST \/iam\/v1\/identities: extra$/,
    because: 'the protocol buffers have it, the OpenAPI description of v1 does not (facts §2)',
  },
  {
    lines: /^\w+ \/(policies|argos|actions|skills|apko?|packages|image-recommendation)\/v1\/.*: extra$/,
    because: 'v1 publishes these paths elsewhere; v1 alone serves them (facts §2)',
  },
  {
    lines: /^GET \S+ \?(orderBy|offset|limit|page|pageSize|pageNumber|perPage): extra, /,
    because: 'the specification says that v1 lists take windows and an order (specification §9.5)',
  },
  {
    lines: /^GET \S+ \?(pageSize|skip): integer( int32)?, not (integer int32|string int64)$/,
    because: 'a number in a query is written alike, whichever type of JSON it has in a body',
  },
  {
    lines: /^(PUT|PATCH) \S+ takes \.id: extra, string$/,
    because: 'a client may send what it read; the id is marked as read-only (facts §12.7)',
  },
  {
    lines: /^(POST|PUT) \/iam\/v1\/account_associations\/\{group\} takes \.group: extra, string$/,
    because: 'as with ids: the path names the group',
  },
  {
    lines: /^(POST|PUT) \/iam\/v1\/rolebindings\/\S+ takes (\[\])?\.(group|id): missing, string$/,
    because: 'v1 ignores both: the path names the group or the binding (facts §3.5)',
  },
  {
    lines: /^PATCH \/libraries\/v1\/aws-marketplace-subscriptions\/\{id\} \?updateMask: extra, string$/,
    because: 'the protocol buffers have it, the OpenAPI description of v1 does not',
  },
  {
    lines: / (takes|answers) \S*\.capabilities\[\]: one of .*, not string$/,
    because: 'the contract has strings; the tables know the values, and a request with another one is refused (facts §18)',
  },
]
