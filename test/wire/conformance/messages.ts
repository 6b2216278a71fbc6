import { create, createFileRegistry, type DescMessage } from '@bufbuild/protobuf'
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import type { Facts, FieldFact } from '../../../src/grpc/facts.ts'
import { protoFiles } from '../../../src/grpc/proto-files.ts'

const own = (name: string) => `connectrpc.conformance.v1.${name}`

/** The fields of a request of a unary method. */
const REQUEST: Readonly<Record<string, FieldFact>> = {
  response_definition: [1, own('UnaryResponseDefinition')],
  request_data: [2, 'bytes'],
}
const RESPONSE: Readonly<Record<string, FieldFact>> = { payload: [1, own('ConformancePayload')] }

/** The names of google.rpc.Code as the suite writes them, in the order of their numbers. */
const CODES =
  'UNSPECIFIED CANCELED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED'

/** The messages that unary methods of the conformance service use, and those that its runner and a server exchange. */
const FACTS: Facts = {
  services: {},
  messages: {
    [own('UnaryRequest')]: REQUEST,
    [own('IdempotentUnaryRequest')]: REQUEST,
    [own('UnaryResponse')]: RESPONSE,
    [own('IdempotentUnaryResponse')]: RESPONSE,
    [own('UnaryResponseDefinition')]: {
      response_headers: [1, `repeated ${own('Header')}`],
      response_data: [2, 'bytes', { oneof: 'response' }],
      error: [3, own('Error'), { oneof: 'response' }],
      response_trailers: [4, `repeated ${own('Header')}`],
      response_delay_ms: [6, 'uint32'],
    },
    [own('ConformancePayload')]: { data: [1, 'bytes'], request_info: [2, own('ConformancePayload.RequestInfo')] },
    [own('ConformancePayload.RequestInfo')]: {
      request_headers: [1, `repeated ${own('Header')}`],
      timeout_ms: [2, 'optional int64'],
      requests: [3, 'repeated google.protobuf.Any'],
      connect_get_info: [4, own('ConformancePayload.ConnectGetInfo')],
    },
    [own('ConformancePayload.ConnectGetInfo')]: { query_params: [1, `repeated ${own('Header')}`] },
    [own('Error')]: { code: [1, own('Code')], message: [2, 'optional string'], details: [3, 'repeated google.protobuf.Any'] },
    [own('Header')]: { name: [1, 'string'], value: [2, 'repeated string'] },
    [own('ServerCompatRequest')]: {
      use_tls: [4, 'bool'],
      message_receive_limit: [6, 'uint32'],
      server_creds: [7, own('TLSCreds')],
    },
    [own('ServerCompatResponse')]: { host: [1, 'string'], port: [2, 'uint32'], pem_cert: [3, 'bytes'] },
    [own('TLSCreds')]: { cert: [1, 'bytes'], key: [2, 'bytes'] },
  },
  enums: { [own('Code')]: Object.fromEntries(CODES.split(' ').map((name, number) => [`CODE_${name}`, number])) },
}

export const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: [...protoFiles([FACTS])] }))

/** Returns the message of this name in the package of the suite. */
export function messageNamed(name: string): DescMessage {
  const message = registry.getMessage(own(name))
  if (!message) throw new Error(`the suite has no message ${name}`)
  return message
}
