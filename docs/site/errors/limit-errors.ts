import type { ErrorGroup } from './error-row.ts'

export const limitErrors: ErrorGroup = {
  title: 'A limit is reached',
  about: 'Each text names its setting. An error that a later request can avoid ends with "; ask again later" and has `Retry-After`.',
  rows: [
    {
      code: 'UNAVAILABLE',
      texts: ['Crosswalk is closed'],
      cause: 'A program that has its own Crosswalk has closed it, and still hands requests to it',
      remedy: 'Close the server of the program first',
    },
    {
      code: 'UNAVAILABLE',
      texts: [
        'more than limits.requestsInFlight (…) requests are under way',
        'requests without a credential take their share of limits.requestsInFlight (…), three quarters',
        'more than limits.webSockets (…) WebSockets are open',
      ],
      cause: 'The process is full',
      remedy: 'See [overload](../how-to/overload.md#overload): more processes, or a higher `limits.requestsInFlight`',
    },
    {
      code: 'RESOURCE_EXHAUSTED',
      texts: ['more than … calls of reflection are under way', 'streams take their share of limits.requestsInFlight, a quarter'],
      cause: 'gRPC calls that may never end have places of their own',
      remedy: 'End streams that are done; raise `limits.requestsInFlight`',
    },
    {
      code: 'RESOURCE_EXHAUSTED',
      texts: ['the request did not arrive, and one with a credential needed its place'],
      cause: 'The process is full, and this request has no credential and an incomplete body',
      remedy: 'Send a credential; see [overload](../how-to/overload.md#overload)',
    },
    {
      code: 'DEADLINE_EXCEEDED',
      texts: ['the stream moved fewer than limits.streamBytes (…) bytes within limits.idleTimeoutMs (…)'],
      cause: 'A relayed gRPC stream holds a place and sends nothing',
      remedy: 'Send messages, or lower `limits.streamBytes`',
    },
    {
      code: 'RESOURCE_EXHAUSTED',
      texts: [
        'more than limits.callerInFlight (…) requests of this caller are under way',
        'this caller sends more than limits.callerPerSecond (…) requests a second',
      ],
      cause: 'One credential takes more than its share',
      remedy: 'Slow the client down, or raise `limits.callerInFlight` or `limits.callerPerSecond`',
    },
    {
      code: 'UNAVAILABLE',
      texts: [
        'the request bodies in memory take more than limits.bodiesBytes (…)',
        'the messages in memory take more than limits.bodiesBytes allows',
      ],
      cause: 'Large bodies of many requests arrive at once',
      remedy: 'Ask again; raise `limits.bodiesBytes` if there is memory',
    },
    {
      code: 'RESOURCE_EXHAUSTED',
      texts: [
        'the answer holds more rows than limits.rowsPerRequest (…) allows; ask for a page',
        'the answer is a … with more than …, too much for JSON; ask in application/proto',
      ],
      cause: 'The JSON form of Connect is written from the message of a service, and this one would keep other clients waiting',
      remedy: 'Ask for a page, or in `application/proto`, which passes unread',
    },
    {
      code: 'RESOURCE_EXHAUSTED',
      texts: ['the message is longer than … bytes as JSON'],
      cause: 'A gRPC message holds millions of control characters, which JSON writes as six letters each',
      remedy: 'Send shorter texts',
    },
    {
      texts: [
        'the request body is larger than limits.requestBytes (…) allows',
        'the message is larger than limits.requestBytes or its method allows (…)',
      ],
      cause: 'One body is too large: INVALID_ARGUMENT over REST, RESOURCE_EXHAUSTED over gRPC',
      remedy: 'Split it, or raise `limits.requestBytes`',
    },
    {
      code: 'INVALID_ARGUMENT',
      texts: ['the request line and headers are larger than limits.headerBytes (…) allows'],
      cause: 'A long query, or large cookies',
      remedy: 'Raise `limits.headerBytes`',
    },
    {
      code: 'INVALID_ARGUMENT',
      texts: [
        'the request headers did not arrive within limits.headersTimeoutMs (…)',
        'the request body did not come within limits.bodyTimeoutMs (…)',
      ],
      cause: 'The client sends too slowly, or stopped',
      remedy: 'Look at the network; raise `limits.bodyTimeoutMs` for slow clients',
    },
    {
      code: 'DEADLINE_EXCEEDED',
      texts: [
        'the request took longer than limits.deadlineMs (…) allows',
        'the call took longer than limits.deadlineMs (…) allows',
        'the call took longer than … allows',
      ],
      cause: 'All calls of the request together took too long, or longer than a gRPC client allowed',
      remedy: 'Ask for less; raise `limits.deadlineMs`. A write may have been done',
    },
    {
      code: 'UNAVAILABLE',
      texts: ['no connection to the v2 service became free within limits.deadlineMs (…)'],
      cause: 'All connections for native traffic are busy, or v2 does not finish its TLS handshake',
      remedy: 'Raise `upstream.connections`',
    },
    {
      code: 'FAILED_PRECONDITION',
      texts: [
        'this list holds more rows than limits.rowsPerRequest (…) allows; narrow the filter or raise the limit',
        'this request needs more v2 calls than limits.callsPerRequest (…) allows; narrow the filter or raise the limit',
      ],
      cause: 'A complete list would cost more than one request may',
      remedy: 'Filter, ask for a window, or raise `limits.rowsPerRequest` or `limits.callsPerRequest`',
    },
    {
      code: 'RESOURCE_EXHAUSTED',
      texts: [
        'the answer is longer than limits.messageBytes (…) allows; narrow the filter, ask for a page, or raise the limit',
        'the long answers under way fill limits.messagesBytes; ask for a page, or ask again later',
      ],
      cause: 'A gRPC message is held until it is whole, so long lists need memory',
      remedy: 'Ask for a page; raise `limits.messageBytes` or `limits.messagesBytes`',
    },
  ],
}
