package interop

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"
)

type vectorFile struct {
	Messages map[string]struct {
		Vectors []struct {
			Hex  string
			JSON json.RawMessage
		}
	}
}

// The pinned messages were written by the vendor's types. They test the reading of the facts in this module.
func TestVectors(t *testing.T) {
	for _, version := range []string{"v1", "v2", "v2beta1"} {
		t.Run(version, func(t *testing.T) {
			facts, err := ReadFacts(version)
			must(t, err)
			files, err := facts.Files()
			must(t, err)
			text, err := os.ReadFile("../../../grpc/vectors/" + strings.TrimSuffix(version, "beta1") + ".json")
			must(t, err)
			var pinned vectorFile
			must(t, json.Unmarshal([]byte(strings.ReplaceAll(string(text), ".v2.", "."+version+".")), &pinned))
			seen := 0
			for name, entry := range pinned.Messages {
				descriptor, err := Message(files, name)
				must(t, err)
				for _, vector := range entry.Vectors {
					wire, err := hex.DecodeString(vector.Hex)
					must(t, err)
					seen += 1
					read := dynamicpb.NewMessage(descriptor)
					must(t, proto.Unmarshal(wire, read))
					if len(read.GetUnknown()) > 0 {
						t.Errorf("%s: unknown fields in %s", name, vector.Hex)
					}
					want := dynamicpb.NewMessage(descriptor)
					must(t, protojson.UnmarshalOptions{Resolver: dynamicpb.NewTypes(files)}.Unmarshal(vector.JSON, want))
					if !proto.Equal(read, want) {
						t.Errorf("%s: %s is not %s", name, vector.Hex, vector.JSON)
					}
					if written, err := (proto.MarshalOptions{Deterministic: true}).Marshal(want); err != nil || !bytes.Equal(written, wire) {
						t.Errorf("%s: %s is written as %x, %v", name, vector.JSON, written, err)
					}
				}
			}
			t.Logf("%d messages of %d types", seen, len(pinned.Messages))
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
