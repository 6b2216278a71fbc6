package interop

import (
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
)

// Files of the well-known types. Value lives beside Struct.
var knownFiles = map[string]string{
	"Any": "any", "Duration": "duration", "Empty": "empty", "FieldMask": "field_mask", "Timestamp": "timestamp",
	"Struct": "struct", "Value": "struct", "ListValue": "struct", "NullValue": "struct",
}

// refer gives a field the type of a message or an enum, and its file the import.
func (b *builder) refer(owner, typeName string, field *descriptorpb.FieldDescriptorProto) {
	field.TypeName = str("." + typeName)
	field.Type = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum()
	if b.facts.Enums[typeName] != nil {
		field.Type = descriptorpb.FieldDescriptorProto_TYPE_ENUM.Enum()
	}
	from := b.file(b.packageOf(owner))
	path := b.packageOf(typeName)
	if short, isKnown := strings.CutPrefix(typeName, "google.protobuf."); isKnown {
		path = "google/protobuf/" + knownFiles[short] + ".proto"
	}
	if path != from.GetName() && !slices.Contains(from.Dependency, path) {
		from.Dependency = append(from.Dependency, path)
	}
}

// packageOf returns the package of a message or enum, which may be nested.
func (b *builder) packageOf(name string) string {
	parent, _ := split(name)
	if b.facts.Messages[parent] != nil {
		return b.packageOf(parent)
	}
	return parent
}

func (b *builder) enum(name string) *descriptorpb.EnumDescriptorProto {
	_, short := split(name)
	enum := &descriptorpb.EnumDescriptorProto{Name: &short}
	values := b.facts.Enums[name]
	// proto3 wants the value 0 first.
	for _, value := range slices.SortedFunc(maps.Keys(values), func(one, other string) int { return int(values[one] - values[other]) }) {
		enum.Value = append(enum.Value, &descriptorpb.EnumValueDescriptorProto{Name: str(value), Number: proto.Int32(values[value])})
	}
	numbers := map[int32]bool{}
	for _, number := range values {
		if numbers[number] {
			enum.Options = &descriptorpb.EnumOptions{AllowAlias: proto.Bool(true)}
		}
		numbers[number] = true
	}
	return enum
}

// entryName is protoc's name for the message of a map's entries: `resource_limits` has `ResourceLimitsEntry`.
func entryName(fieldName string) string {
	name := ""
	for _, word := range strings.Split(fieldName, "_") {
		if word != "" {
			name += strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return name + "Entry"
}
