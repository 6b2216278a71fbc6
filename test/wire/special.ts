import type { WireHandler } from '../../src/grpc/wire/call.ts'

const message = '\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n'

/** Answers with the status of the interop test `special_status_message` of gRPC. @public */
export const answerSpecially: WireHandler = () => Promise.resolve({ status: { code: 2, message, details: [] } })

/** How that message stands in the `grpc-message` trailer. */
export const SPECIAL = {
  message,
  encoded: '%09%0Atest with whitespace%0D%0Aand Unicode BMP %E2%98%BA and non-BMP %F0%9F%98%88%09%0A',
} as const
