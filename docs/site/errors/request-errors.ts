import type { ErrorGroup } from './error-row.ts'

export const requestErrors: ErrorGroup = {
  title: 'The request cannot be read',
  about: 'Crosswalk refuses these itself, before it asks a service.',
  rows: [
    {
      code: 'INVALID_ARGUMENT',
      texts: [
        'the request is not well-formed HTTP',
        'the request has no host header',
        'the request has two host headers',
        'the request target is not a well-formed path',
      ],
      cause: 'The bytes are not an HTTP/1.1 or HTTP/2 request: a broken head, no `Host`, or a target that is not a path',
      remedy: 'Look at what the client or a proxy in front of Crosswalk sends. A client that speaks TLS to a plain-text port gets this too',
    },
    {
      code: 'INVALID_ARGUMENT',
      texts: ['must not contain the segments . and ..'],
      cause: 'A path with such segments means different things to different servers',
      remedy: 'Send the path without them',
    },
    {
      code: 'INVALID_ARGUMENT',
      texts: ['the expect header can only be 100-continue', 'a WebSocket handshake is a GET without content-length and transfer-encoding'],
      cause: 'A header that HTTP does not allow there',
      remedy: 'Fix the client: other servers refuse or misread it as well',
    },
    {
      code: 'INVALID_ARGUMENT',
      texts: ['a DELETE or OPTIONS request with a body needs a content-length header', 'the request cannot be written as HTTP/1.1'],
      cause: 'A request that passes through unchanged cannot be sent on as it is',
      remedy: 'Send a `content-length`, and headers that HTTP/1.1 can hold',
    },
    {
      code: 'INVALID_ARGUMENT',
      texts: ['can only be GET'],
      cause: 'v1 reads `x-http-method-override` only where a long query is sent as a form',
      remedy: 'Send GET in that header, or send the method itself',
    },
    {
      code: 'INVALID_ARGUMENT',
      texts: [
        'the query holds a broken percent-encoding: …',
        'the query holds bytes that are not UTF-8: …',
        'the query holds more than … parameters',
        'the form is longer than any query (… bytes)',
        'the message is longer than any query (… bytes)',
        'is longer than a URL may be (… bytes)',
      ],
      cause: 'The query cannot be decoded, or is longer than any client needs',
      remedy: 'Encode every value; ask in several requests',
    },
    {
      code: 'INTERNAL',
      texts: ['the body of the request was read before Crosswalk got it'],
      cause: 'The program around Crosswalk reads bodies first, such as by `express.json()`',
      remedy: 'Hand requests to `handler` with unread bodies',
    },
    {
      code: 'INVALID_ARGUMENT',
      texts: [
        'the request body is not UTF-8',
        'the request body is not JSON: …',
        'the request body is nested deeper than … levels',
        'the request body holds more than … values',
        'the request body holds a number of more than … digits',
        'the message holds more than … values',
      ],
      cause: 'The body is not JSON, or larger than any v1 request needs',
      remedy: 'Send JSON in UTF-8; split a batch',
    },
    {
      code: 'NOT_FOUND',
      texts: ['Not Found'],
      cause: 'v1 has no operation at this path, and no v1 service is set that may have one',
      remedy: 'Compare the path with `crosswalk operations`; set `upstream.v1` to pass unknown paths on',
    },
    {
      code: 'UNIMPLEMENTED',
      texts: ['Method Not Allowed'],
      cause: 'v1 knows the path, but not with this method',
      remedy: 'Use the method that `crosswalk operations` names',
    },
  ],
}
