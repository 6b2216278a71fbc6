// Calls methods of v1 with the vendor's own SDK: its connection, its credentials, its clients and its messages.
//
//	sdk                      prints the paths of all methods for which the SDK has a client, as JSON
//	sdk ADDRESS [TOKEN ...]  reads a call as a line of JSON and writes its end as a line of JSON, as `client.py` does; bytes are hexadecimal
//
// The token of a call is first exchanged at the address, as the vendor's programs log in, except the tokens that the command names.
package main

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"chainguard.dev/sdk/auth"
	"chainguard.dev/sdk/proto/platform"
	"chainguard.dev/sdk/sts"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

type call struct {
	Path     string
	Input    string
	Metadata map[string]string
	Token    string
	Message  string
	// Seconds; 0 sets no deadline.
	Timeout float64
}

type detail struct {
	Type  string `json:"type"`
	Value string `json:"value"`
}

type end struct {
	Message *string  `json:"message,omitempty"`
	Code    uint32   `json:"code,omitempty"`
	Said    string   `json:"said"`
	Details []detail `json:"details"`
}

// The number of calls after which a client logs in again: the sandbox's clock moves with every call, and a token lives for an hour.
const callsOfLogin = 500

// session is what one token of the tests became.
type session struct {
	clients platform.Clients
	calls   map[string]reflect.Value
	began   int
}

type program struct {
	address  string
	sessions map[string]*session
	// Numbers of calls and of logins.
	called, logins int
}

func main() {
	out := json.NewEncoder(os.Stdout)
	if len(os.Args) == 1 {
		clients, err := platform.NewPlatformClients(context.Background(), "http://127.0.0.1:1", auth.NewFromToken(context.Background(), "", false))
		must(err)
		must(out.Encode(slices.Sorted(maps.Keys(callsOf(clients)))))
		return
	}
	p := program{address: os.Args[1], sessions: map[string]*session{}}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 100<<20)
	for lines.Scan() {
		var asked call
		must(json.Unmarshal(lines.Bytes(), &asked))
		must(out.Encode(p.answer(asked)))
	}
	must(lines.Err())
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func (p *program) answer(asked call) end {
	ctx := context.Background()
	current, err := p.session(ctx, asked.Token)
	if err != nil {
		return endOf(err)
	}
	for name, value := range asked.Metadata {
		ctx = metadata.AppendToOutgoingContext(ctx, name, value)
	}
	if asked.Timeout > 0 {
		limited, cancel := context.WithTimeout(ctx, time.Duration(asked.Timeout*float64(time.Second)))
		defer cancel()
		ctx = limited
	}
	bytes, err := hex.DecodeString(asked.Message)
	must(err)
	in := newMessage(asked.Input)
	must(proto.Unmarshal(bytes, in))
	// The client's own method: `clients.IAM().Groups().List(ctx, in)`.
	results := current.calls[asked.Path].Call([]reflect.Value{reflect.ValueOf(ctx), reflect.ValueOf(in)})
	if err, failed := results[1].Interface().(error); failed {
		return endOf(err)
	}
	value := results[0].Interface()
	if receive := results[0].MethodByName("Recv"); receive.IsValid() {
		// A stream answers with its first message.
		received := receive.Call(nil)
		if err, failed := received[1].Interface().(error); failed {
			return endOf(err)
		}
		value = received[0].Interface()
	}
	answer, err := proto.MarshalOptions{Deterministic: true}.Marshal(value.(proto.Message))
	must(err)
	text := hex.EncodeToString(answer)
	return end{Message: &text}
}

// session returns the clients of a token, which have logged in with it. Without a token, calls are made as they are.
func (p *program) session(ctx context.Context, token string) (*session, error) {
	p.called++
	known := p.sessions[token]
	if known != nil && p.called < known.began+callsOfLogin {
		return known, nil
	}
	if known != nil {
		must(known.clients.Close())
	}
	access := token
	if token != "" && !slices.Contains(os.Args[2:], token) {
		given, err := p.login(ctx, token)
		if err != nil {
			return nil, err
		}
		access = given
	}
	// The SDK's own examples send a token without a scheme.
	clients, err := platform.NewPlatformClients(ctx, p.address, auth.NewFromToken(ctx, access, false))
	if err != nil {
		return nil, err
	}
	fresh := &session{clients: clients, calls: callsOf(clients), began: p.called}
	p.sessions[token] = fresh
	return fresh, nil
}

// login exchanges a token over gRPC and over HTTP/1.1, and returns the one or the other's token in turn.
func (p *program) login(ctx context.Context, token string) (string, error) {
	over2, err := sts.ExchangePair(ctx, p.address, p.address, token)
	if err != nil {
		return "", errors.Unwrap(err)
	}
	over1, err := sts.ExchangePair(ctx, p.address, p.address, token, sts.WithHTTP1Downgrade())
	must(err)
	p.logins++
	if p.logins%2 == 0 {
		return over1.AccessToken, nil
	}
	return over2.AccessToken, nil
}

// callsOf returns the methods of all clients by their paths: `clients.IAM().Groups().List` is `/chainguard.platform.iam.Groups/List`.
func callsOf(clients platform.Clients) map[string]reflect.Value {
	paths := map[string]protoreflect.MethodDescriptor{}
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		for at := range file.Services().Len() {
			service := file.Services().Get(at)
			for nth := range service.Methods().Len() {
				method := service.Methods().Get(nth)
				paths["/"+string(service.FullName())+"/"+string(method.Name())] = method
			}
		}
		return true
	})
	found := map[string]reflect.Value{}
	for _, domain := range partsOf(reflect.ValueOf(clients)) {
		for _, client := range partsOf(domain) {
			service := strings.TrimSuffix(client.Type().Name(), "Client")
			for path, method := range paths {
				if string(method.Parent().Name()) != service {
					continue
				}
				called := client.MethodByName(string(method.Name()))
				if called.IsValid() && takes(called.Type(), method.Input().FullName()) {
					found[path] = called
				}
			}
		}
	}
	return found
}

// partsOf returns what the methods without parameters give, as the interfaces that they promise.
func partsOf(of reflect.Value) []reflect.Value {
	var parts []reflect.Value
	for at := range of.NumMethod() {
		method := of.Method(at)
		if method.Type().NumIn() == 0 && method.Type().NumOut() == 1 && method.Type().Out(0).Kind() == reflect.Interface && method.Type().Out(0).Name() != "error" {
			parts = append(parts, method.Call(nil)[0])
		}
	}
	return parts
}

// takes tells whether a function is a unary call with this message.
func takes(function reflect.Type, input protoreflect.FullName) bool {
	if function.NumIn() != 3 || !function.IsVariadic() || function.In(2) != reflect.TypeFor[[]grpc.CallOption]() {
		return false
	}
	message, isMessage := reflect.Zero(function.In(1)).Interface().(proto.Message)
	return isMessage && message.ProtoReflect().Descriptor().FullName() == input
}

func newMessage(name string) proto.Message {
	known, err := protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName(name))
	if err != nil {
		log.Fatalf("the SDK has no %s: %v", name, err)
	}
	return known.New().Interface()
}

func endOf(err error) end {
	said := status.Convert(err)
	details := []detail{}
	for _, any := range said.Proto().GetDetails() {
		details = append(details, detail{Type: any.GetTypeUrl()[strings.LastIndex(any.GetTypeUrl(), "/")+1:], Value: hex.EncodeToString(any.GetValue())})
	}
	return end{Code: uint32(said.Code()), Said: said.Message(), Details: details}
}
