package interop

import (
	"io"
	"net"
	"net/url"
	"testing"
	"time"

	"google.golang.org/grpc/connectivity"
)

// A call of the SDK waits for a proxy that is not there yet.
func TestWaitForReady(t *testing.T) {
	started := readSetting(t)
	reserved, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	address := reserved.Addr().String()
	must(t, reserved.Close())
	client := dial(t, "v1", "http://"+address, started.Token)
	done := make(chan error, 1)
	ctx := within(t, 20*time.Second)
	go func() {
		_, err := client.Call(ctx, listGroups, `{}`)
		done <- err
	}()
	for state := client.conn.GetState(); state != connectivity.TransientFailure; state = client.conn.GetState() {
		if !client.conn.WaitForStateChange(ctx, state) {
			t.Fatalf("the connection stays %v", state)
		}
	}
	target, err := url.Parse(started.Targets["relay"].URL)
	must(t, err)
	listener, err := net.Listen("tcp", address)
	must(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go forward(listener, target.Host)
	must(t, <-done)
}

// forward passes each connection on to an address until its listener closes.
func forward(listener net.Listener, address string) {
	for {
		near, err := listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", address)
		if err != nil {
			_ = near.Close()
			continue
		}
		for _, pair := range [][2]net.Conn{{near, far}, {far, near}} {
			go func() {
				_, _ = io.Copy(pair[0], pair[1])
				_ = pair[0].Close()
			}()
		}
	}
}
