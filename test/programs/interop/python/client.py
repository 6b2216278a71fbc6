"""Makes gRPC calls by Debian's grpcio: reads a call as a line of JSON, writes its end as a line of JSON."""

import json
import sys

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

address, descriptors = sys.argv[1:3]

pool = descriptor_pool.DescriptorPool()
files = descriptor_pb2.FileDescriptorSet()
with open(descriptors, "rb") as file:
    files.ParseFromString(file.read())
for file in files.file:
    pool.Add(file)
factory = message_factory.MessageFactory(pool)


def class_of(name):
    return factory.GetPrototype(pool.FindMessageTypeByName(name))


def details_of(error):
    for name, value in error.trailing_metadata() or ():
        if name == "grpc-status-details-bin":
            status = class_of("google.rpc.Status").FromString(value)
            return [{"type": any.type_url.split("/")[-1], "value": any.value.hex()} for any in status.details]
    return []


with grpc.insecure_channel(address, compression=grpc.Compression.Gzip) as channel:
    for line in sys.stdin:
        call = json.loads(line)
        method = channel.unary_unary(
            call["path"],
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=class_of(call["output"]).FromString,
        )
        message = class_of(call["input"]).FromString(bytes.fromhex(call["message"]))
        metadata = list(call["metadata"].items())
        if call["token"]:
            metadata.append(("authorization", "Bearer " + call["token"]))
        try:
            answer = method(message, metadata=metadata, timeout=call["timeout"])
            end = {"message": answer.SerializeToString().hex()}
        except grpc.RpcError as error:
            end = {"code": error.code().value[0], "said": error.details(), "details": details_of(error)}
        print(json.dumps(end), flush=True)
