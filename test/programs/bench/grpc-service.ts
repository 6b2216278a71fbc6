import { Server, ServerCredentials, type ServerUnaryCall, type ServerWritableStream, type sendUnaryData } from '@grpc/grpc-js'

/** The measured gRPC service, a process of its own. Messages are bytes, so it needs no .proto file. */
const bytes = (value: Buffer) => value
const codec = { requestSerialize: bytes, requestDeserialize: bytes, responseSerialize: bytes, responseDeserialize: bytes }

const SERVICE = {
  Echo: { path: '/bench/Echo', requestStream: false, responseStream: false, ...codec },
  Stream: { path: '/bench/Stream', requestStream: false, responseStream: true, ...codec },
}

/** Sends as many messages as the request says, of the size that it says: `count size`. */
function stream(call: ServerWritableStream<Buffer, Buffer>): void {
  const [count = 0, size = 0] = String(call.request).split(' ').map(Number)
  const message = Buffer.alloc(size)
  let left = count
  const write = () => {
    while (left > 0) {
      left -= 1
      if (!call.write(message)) return void call.once('drain', write)
    }
    call.end()
  }
  write()
}

const server = new Server()
server.addService(SERVICE, {
  Echo: (call: ServerUnaryCall<Buffer, Buffer>, done: sendUnaryData<Buffer>) => done(null, call.request),
  Stream: stream,
})
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error
  process.stdout.write(`http://127.0.0.1:${port}\n`)
})
