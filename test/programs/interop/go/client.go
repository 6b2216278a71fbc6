package interop

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"
)

const most = 100 << 20

// Client calls methods of one version with messages that are written as JSON.
type Client struct {
	conn  *grpc.ClientConn
	facts *Facts
	files *protoregistry.Files
}

// Dial does what the vendor's SDK does: the scheme of the address chooses TLS with the system's roots or plain HTTP/2, a call waits for
// the connection, and a message may have 100 MB.
func Dial(version, address, token string, options ...grpc.DialOption) (*Client, error) {
	facts, err := ReadFacts(version)
	if err != nil {
		return nil, err
	}
	files, err := facts.Files()
	if err != nil {
		return nil, err
	}
	target, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	transport := insecure.NewCredentials()
	if target.Scheme == "https" {
		transport = credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12})
	}
	calls := []grpc.CallOption{grpc.WaitForReady(true), grpc.MaxCallRecvMsgSize(most), grpc.MaxCallSendMsgSize(most)}
	conn, err := grpc.NewClient(target.Host, append([]grpc.DialOption{
		grpc.WithTransportCredentials(transport),
		grpc.WithPerRPCCredentials(bearer(token)),
		grpc.WithDefaultCallOptions(calls...),
		grpc.WithUserAgent("crosswalk-interop"),
	}, options...)...)
	return &Client{conn: conn, facts: facts, files: files}, err
}

// Call calls a method, `iam.Groups/List`, and returns its answer as JSON with proto names and all zero values.
func (c *Client) Call(ctx context.Context, method, request string, options ...grpc.CallOption) (any, error) {
	service, name, _ := strings.Cut("chainguard.platform."+method, "/")
	fact, known := c.facts.Services[service][name]
	if !known {
		return nil, fmt.Errorf("the facts know no method %s", method)
	}
	in, err := c.message(fact.In)
	if err != nil {
		return nil, err
	}
	out, err := c.message(fact.Out)
	if err != nil {
		return nil, err
	}
	if err := protojson.Unmarshal([]byte(request), in); err != nil {
		return nil, err
	}
	if err := c.conn.Invoke(ctx, "/"+service+"/"+name, in, out, options...); err != nil {
		return nil, err
	}
	text, err := protojson.MarshalOptions{UseProtoNames: true, EmitDefaultValues: true}.Marshal(out)
	if err != nil {
		return nil, err
	}
	var answer any
	return answer, json.Unmarshal(text, &answer)
}

func (c *Client) message(name string) (*dynamicpb.Message, error) {
	descriptor, err := Message(c.files, name)
	if err != nil {
		return nil, err
	}
	return dynamicpb.NewMessage(descriptor), nil
}

// Close ends the connection.
func (c *Client) Close() error { return c.conn.Close() }

type bearer string

func (token bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + string(token)}, nil
}

// RequireTransportSecurity is false, as in the SDK: a local proxy may speak plain HTTP/2.
func (bearer) RequireTransportSecurity() bool { return false }
