package interop

import (
	"context"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	_ "google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
)

const listGroups = "iam.Groups/List"

func v1Client(t *testing.T, started setting, options ...grpc.DialOption) *Client {
	t.Helper()
	client, err := Dial("v1", started.Targets["relay"].URL, started.Token, options...)
	must(t, err)
	t.Cleanup(func() { must(t, client.Close()) })
	return client
}

func TestListBeyond4MiB(t *testing.T) {
	started := readSetting(t)
	client := v1Client(t, started)
	request := `{"uidp":{"children_of":"` + started.LargeRepo + `"}}`
	answer, err := client.Call(within(t, time.Minute), "registry.Registry/ListTags", request)
	must(t, err)
	if rows := len(answer.(map[string]any)["items"].([]any)); rows != started.LargeTags {
		t.Errorf("%d of %d tags", rows, started.LargeTags)
	}
	// A client with the limit of grpc-go's default finds the message too large.
	_, err = client.Call(within(t, time.Minute), "registry.Registry/ListTags", request, grpc.MaxCallRecvMsgSize(4<<20))
	if status.Code(err) != codes.ResourceExhausted || !strings.Contains(err.Error(), "received message larger than max") {
		t.Errorf("a message beyond 4 MiB: %v", err)
	}
}

func TestTypedDetails(t *testing.T) {
	started := readSetting(t)
	client := v1Client(t, started)
	_, err := client.Call(within(t, 10*time.Second), "iam.Groups/Update", `{"id":"`+started.Organization+`/0000000000000000","name":"gone"}`)
	kinds := map[string]bool{}
	for _, detail := range status.Convert(err).Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			kinds["ErrorInfo"] = detail.GetReason() != ""
		case *errdetails.ResourceInfo:
			kinds["ResourceInfo"] = detail.GetResourceName() != "" || detail.GetResourceType() != ""
		case error:
			t.Errorf("a detail cannot be read: %v", detail)
		}
	}
	if status.Code(err) != codes.NotFound || !kinds["ErrorInfo"] || !kinds["ResourceInfo"] {
		t.Errorf("%v with %v", err, kinds)
	}
	_, err = client.Call(within(t, 10*time.Second), "iam.Groups/Create", `{"parent":"`+started.Organization+`"}`)
	if message := status.Convert(err).Message(); !strings.HasPrefix(message, "Invalid argument: name: ") {
		t.Errorf("a message that is not as v1 writes it: %s", message)
	}
}

func TestUnauthenticated(t *testing.T) {
	client := dial(t, "v1", readSetting(t).Targets["relay"].URL, "no such token")
	if _, err := client.Call(within(t, 10*time.Second), listGroups, `{}`); status.Code(err) != codes.Unauthenticated {
		t.Error(err)
	}
}

func TestDeadlineAndCancel(t *testing.T) {
	started := readSetting(t)
	client := v1Client(t, started)
	request := `{"uidp":{"children_of":"` + started.LargeRepo + `"}}`
	_, err := client.Call(within(t, 10*time.Second), listGroups, `{}`)
	must(t, err)
	_, err = client.Call(within(t, 3*time.Millisecond), "registry.Registry/ListTags", request)
	if status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("after the deadline: %v", err)
	}
	ctx, cancel := context.WithCancel(within(t, 10*time.Second))
	time.AfterFunc(3*time.Millisecond, cancel)
	if _, err = client.Call(ctx, "registry.Registry/ListTags", request); status.Code(err) != codes.Canceled {
		t.Errorf("after the cancel: %v", err)
	}
	// The connection goes on.
	_, err = client.Call(within(t, 10*time.Second), listGroups, `{}`)
	must(t, err)
}

func TestGzip(t *testing.T) {
	client := v1Client(t, readSetting(t))
	var header metadata.MD
	_, err := client.Call(within(t, 10*time.Second), listGroups, `{}`, grpc.UseCompressor("gzip"), grpc.Header(&header))
	must(t, err)
	t.Logf("the answer has %v", header)
}

func TestRequestBeyondTheLimit(t *testing.T) {
	client := v1Client(t, readSetting(t))
	large := `{"group":{"description":"` + strings.Repeat("a", 20<<20) + `"}}`
	_, err := client.Call(within(t, 30*time.Second), "iam.Groups/Create", large)
	if status.Code(err) != codes.ResourceExhausted {
		t.Errorf("20 MiB: %v", err)
	}
}

func TestUnknownMethod(t *testing.T) {
	client := v1Client(t, readSetting(t))
	err := client.conn.Invoke(within(t, 10*time.Second), "/chainguard.platform.iam.Groups/Rename", &emptypb.Empty{}, &emptypb.Empty{})
	if status.Code(err) != codes.Unimplemented {
		t.Error(err)
	}
}

// The SDK's opt-in: pings every 30 seconds also without a call. grpc-go pings no faster than every 10 seconds.
func TestKeepalivePings(t *testing.T) {
	client := v1Client(t, readSetting(t), grpc.WithKeepaliveParams(keepalive.ClientParameters{
		Time: 10 * time.Second, Timeout: 5 * time.Second, PermitWithoutStream: true,
	}))
	_, err := client.Call(within(t, 10*time.Second), listGroups, `{}`)
	must(t, err)
	connected := client.conn.GetState()
	// One second behind the second ping.
	if changed := client.conn.WaitForStateChange(within(t, 21*time.Second), connected); changed {
		t.Errorf("the connection went from %v to %v", connected, client.conn.GetState())
	}
	_, err = client.Call(within(t, 10*time.Second), listGroups, `{}`)
	must(t, err)
}
