import type { ErrorGroup } from './error-row.ts'

export const serviceErrors: ErrorGroup = {
  title: 'A service did not answer, or answered wrongly',
  about:
    'What v2 or v1 itself refuses keeps its code, and its words with the names of v1. These are errors about the service. The log has the cause, which clients never see.',
  rows: [
    {
      code: 'UNAVAILABLE',
      texts: ['the … service cannot be reached'],
      cause:
        'No connection: a wrong address, a name that does not resolve, a refused or untrusted TLS handshake, or a service that is down',
      remedy: 'Compare `upstream.v2` or `upstream.v1`; see [v2 is down](../how-to/requests-fail.md#v2-is-down)',
    },
    {
      code: 'UNAVAILABLE',
      texts: ['the connection to the … service broke'],
      cause: 'The service, or what is in front of it, closed the connection before its answer was complete',
      remedy: 'Look at its log. A write may have been done: read before you repeat it',
    },
    {
      code: 'DEADLINE_EXCEEDED',
      texts: ['the … service did not answer in time', 'the v1 service did not answer in time'],
      cause: 'One call took longer than `limits.callTimeoutMs`',
      remedy: 'See [requests are slow](../how-to/overload.md#requests-are-slow). A write may have been done: read before you repeat it',
    },
    {
      texts: ['the v2 service answered HTTP … without an error body'],
      cause: 'Something between Crosswalk and v2 answered, such as a balancer with an HTML page. Its status decides the code',
      remedy: 'Look at `cause` in the log, and at what is in front of v2',
    },
    {
      code: 'UNAVAILABLE',
      texts: [
        'the v2 service answered HTTP … without naming a missing resource',
        'the v2 service answered NOT_FOUND without naming a missing resource',
      ],
      cause: 'A NOT_FOUND that does not name what was asked for. To v1 clients it would mean "gone", so it is an outage',
      remedy: 'Compare the path of `upstream.v2`; look at what is in front of v2',
    },
    {
      code: 'INTERNAL',
      texts: [
        'the v2 service sent an answer that is not JSON',
        'the v2 service sent an answer without what it must hold',
        'the v2 service sent a wrong answer: … …',
        'the v2 service sent an answer that is nested too deeply',
        'the v2 service sent a uid that no path can hold',
        'the v2 service sent an answer in more than … content codings',
        'the v2 service sent an answer in the unknown content coding …',
        'service sent an answer that cannot be passed on',
        'the answer has metadata that no header can carry',
      ],
      cause: 'A success that is not the expected answer. Crosswalk makes no v1 answer of it, because an empty one would be wrong data',
      remedy: 'Look at `cause` in the log, and ask v2 with the lines of `crosswalk explain`',
    },
    {
      texts: [
        'the v2 service sent an answer of more than limits.answerBytes (…)',
        'the … service sent an answer of more than limits.answerBytes (…)',
      ],
      cause: 'One answer of a service is larger than `limits.answerBytes`: INTERNAL over REST, RESOURCE_EXHAUSTED over gRPC',
      remedy: 'Raise `limits.answerBytes` if such answers are right',
    },
    {
      code: 'INTERNAL',
      texts: ['the v2 service sent an answer with …'],
      cause: 'Reading the answer would keep other clients waiting. The text says of what it holds too much',
      remedy: 'Ask v2 with the lines of `crosswalk explain`; if such an answer is right, let v1 serve the operation',
    },
    {
      code: 'NOT_FOUND',
      texts: ['Not found: … …'],
      cause: 'v1 says so of this id, and v2 answered a list without it',
      remedy: 'The resource is gone, or the caller may not see it',
    },
    {
      code: 'ABORTED',
      texts: ['the list started over while it was read; ask again'],
      cause: 'v2 gave the first page again: its page token was too old',
      remedy: 'Ask again. If it happens often, the list takes too long: ask for parts of it',
    },
    {
      code: 'ABORTED',
      texts: ['the list is longer than the rows that the v2 service showed; ask again'],
      cause: 'v2 ended the list before as many rows as it counts, and does not show the others',
      remedy: 'Ask again. If it happens again, v2 counts wrongly or loses rows: let v1 answer the list',
    },
    {
      code: 'ABORTED',
      texts: ['the v2 service no longer finds what it has shown a part of; ask again'],
      cause: 'v2 answered NOT_FOUND to a later call of a request: something was deleted meanwhile, or v2 is wrong',
      remedy: 'Ask again. What is gone is then shown as v1 shows it',
    },
    {
      texts: ['the repo was created with id …, but without its readme', 'the readme had already been replaced'],
      cause: 'A write of two calls of which the second failed; the words follow those of the error in brackets',
      remedy: 'Read the resource, and send what is missing',
    },
    {
      code: 'INTERNAL',
      texts: ['this request has passed through here before: upstream.v2 or upstream.v1 leads back to this proxy'],
      cause: 'A loop of proxies',
      remedy: 'Set `upstream.v2` and `upstream.v1` to the services themselves ([loops](routes.md#loops))',
    },
    {
      code: 'CANCELLED',
      texts: ['the client went away', 'the answer is over'],
      cause: 'The client closed its connection. Only the log and gRPC show this',
      remedy: 'Raise the time limit of the client if it gives up too early',
    },
    {
      code: 'INTERNAL',
      texts: ['internal error', 'a side that is only asked is never written to'],
      cause: 'A fault of Crosswalk',
      remedy: 'Find the request in the log by its `reqId`, and report it with its cause',
    },
  ],
}
