// Package interop calls Crosswalk as clients of gRPC in Go do: with grpc-go, and with messages that it builds itself from the facts.
package interop

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	_ "google.golang.org/protobuf/types/known/anypb"
	_ "google.golang.org/protobuf/types/known/durationpb"
	_ "google.golang.org/protobuf/types/known/emptypb"
	_ "google.golang.org/protobuf/types/known/fieldmaskpb"
	_ "google.golang.org/protobuf/types/known/structpb"
	_ "google.golang.org/protobuf/types/known/timestamppb"
)

// Facts are one file of mappings/grpc: services with their methods, messages with their fields, enums with their values.
type Facts struct {
	Services map[string]map[string]struct{ In, Out string }
	Messages map[string]map[string]field
	Enums    map[string]map[string]int32
}

// A field is written as [number, type] or [number, type, {oneof, json}].
type field struct {
	number   int32
	typeName string
	options  struct{ Oneof, JSON string }
}

func (f *field) UnmarshalJSON(text []byte) error {
	parts := []any{&f.number, &f.typeName, &f.options}
	return json.Unmarshal(text, &parts)
}

// ReadFacts reads the facts of v1 or v2. Names of v2beta1 are those of v2 with another package.
func ReadFacts(version string) (*Facts, error) {
	source := version
	if version == "v2beta1" {
		source = "v2"
	}
	text, err := os.ReadFile("../../../../mappings/grpc/" + source + ".json")
	if err != nil {
		return nil, err
	}
	facts := &Facts{}
	return facts, json.Unmarshal([]byte(strings.ReplaceAll(string(text), "."+source+".", "."+version+".")), facts)
}

// Files returns descriptors of all messages, one file for each package.
func (facts *Facts) Files() (*protoregistry.Files, error) {
	build := builder{facts: facts, files: map[string]*descriptorpb.FileDescriptorProto{}}
	for _, name := range slices.Sorted(maps.Keys(facts.Messages)) {
		if parent, _ := split(name); facts.Messages[parent] == nil {
			build.file(parent).MessageType = append(build.file(parent).MessageType, build.message(name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(facts.Enums)) {
		if parent, _ := split(name); facts.Messages[parent] == nil {
			build.file(parent).EnumType = append(build.file(parent).EnumType, build.enum(name))
		}
	}
	set := &descriptorpb.FileDescriptorSet{}
	for _, path := range []string{"any", "duration", "empty", "field_mask", "struct", "timestamp"} {
		known, err := protoregistry.GlobalFiles.FindFileByPath("google/protobuf/" + path + ".proto")
		if err != nil {
			return nil, err
		}
		set.File = append(set.File, protodesc.ToFileDescriptorProto(known))
	}
	set.File = append(set.File, slices.Collect(maps.Values(build.files))...)
	return protodesc.NewFiles(set)
}

// Message returns the descriptor of a message.
func Message(files *protoregistry.Files, name string) (protoreflect.MessageDescriptor, error) {
	found, err := files.FindDescriptorByName(protoreflect.FullName(name))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return found.(protoreflect.MessageDescriptor), nil
}

// split returns what is before the last dot, and what is behind it.
func split(name string) (string, string) {
	at := strings.LastIndex(name, ".")
	return name[:at], name[at+1:]
}

func str(text string) *string { return proto.String(text) }
