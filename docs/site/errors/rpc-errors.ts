import type { ErrorGroup } from './error-row.ts'

export const rpcErrors: ErrorGroup = {
  title: 'Calls of gRPC, gRPC-Web and Connect',
  about: 'These can occur as well. Codes are those of gRPC implementations where they have one.',
  rows: [
    {
      code: 'UNIMPLEMENTED',
      texts: ['unknown method … for service …', 'no gRPC method has such a path'],
      cause: 'No version of the API has the method',
      remedy: 'Compare its name with `crosswalk explain`, or with what reflection lists',
    },
    {
      texts: [
        'the … service does not speak gRPC; set upstream.…Grpc to rest if it speaks REST',
        'the … service answered HTTP … without gRPC',
      ],
      cause: 'The service speaks only REST, or something in front of it does not carry gRPC',
      remedy: 'Set `upstream.v2Grpc` or `upstream.v1Grpc` to rest, or let the balancer carry HTTP/2',
    },
    {
      code: 'UNIMPLEMENTED',
      texts: ['v2 is asked over REST (upstream.v2Grpc: rest), which has no request for …', 'REST has no request for …'],
      cause: 'The method has no http rule',
      remedy: 'Set `upstream.v2Grpc` to relay if v2 speaks gRPC',
    },
    {
      texts: [
        'REST cannot carry … of …; set upstream.…Grpc to relay if … speaks gRPC',
        'REST cannot carry … of …, so only gRPC serves this call',
      ],
      cause: 'A member of the message cannot stand in a query',
      remedy: 'Set `upstream.v2Grpc` or `upstream.v1Grpc` to relay',
    },
    {
      texts: ['… answers with several messages, which only gRPC and gRPC-Web with messages in bytes carry'],
      cause: 'A unary call of Connect has one answer, and JSON has no frames',
      remedy: 'Call the method over gRPC or gRPC-Web',
    },
    {
      code: 'UNKNOWN',
      texts: [
        'the … service broke off during the call, which may have been done',
        'Crosswalk stopped before the call was answered; it may have been done',
        '…; this call may have been done',
      ],
      cause: 'A write of which nobody knows whether it was done. UNAVAILABLE would make clients repeat it',
      remedy: 'Read the resource before you send it again',
    },
    {
      code: 'INVALID_ARGUMENT',
      texts: [
        'the message does not name the resource that the method is about',
        'the request is not JSON of …',
        'the request cannot be read as …',
        'the request holds a value that does not belong to …',
        'the query has no message',
        'the message in the query is not base64',
        'the version of Connect is 1',
        'connect-timeout-ms is a number of at most ten digits',
        'the content type names no codec that is known',
      ],
      cause: 'The message or its frame is not what the method takes',
      remedy: 'Generate the client from the contract of v1; the text names what is wrong',
    },
    {
      code: 'INTERNAL',
      texts: [
        'grpc: error unmarshalling request',
        'the request is not a HealthCheckRequest',
        'the request is not a …',
        'the request ends within a message',
        'the request is not base64',
        'the flags … of a message are unknown',
        'a message is marked as compressed, and grpc-encoding names no compression',
        'malformed grpc-timeout',
      ],
      cause: 'The bytes are not a gRPC call',
      remedy: 'Look at what is between the client and Crosswalk: something cut or changed the bytes',
    },
    {
      texts: ['the message cannot be decompressed'],
      cause: 'The message is marked as gzip, but is not gzip: INTERNAL over gRPC, INVALID_ARGUMENT over Connect',
      remedy: 'Send it without compression',
    },
    {
      code: 'INTERNAL',
      texts: ['the answer is not a …', 'the service sent an answer that is not a …'],
      cause: 'An answer that the message of the method cannot hold',
      remedy: 'Compare the version of the service with that of Crosswalk; look at `cause` in the log',
    },
    {
      code: 'UNIMPLEMENTED',
      texts: [
        '… is neither gzip nor identity',
        'the request holds more than one message, and the method takes one',
        'the request holds no message, and the method takes one',
      ],
      cause: 'A compression or a stream that v1 does not have',
      remedy: 'Send one message, plain or as gzip',
    },
    {
      code: 'NOT_FOUND',
      texts: ['unknown service'],
      cause: 'A health check names a service that is not served here',
      remedy: 'Leave the name empty, or name a service that reflection lists',
    },
    {
      code: 'UNAVAILABLE',
      texts: ['the proxy is shutting down'],
      cause: 'A health check that watches is told of the end',
      remedy: 'Connect to another replica',
    },
  ],
}
