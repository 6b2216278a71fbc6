package interop

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
)

type builder struct {
	facts *Facts
	files map[string]*descriptorpb.FileDescriptorProto
}

// file returns the file of a package. Its path is the name of the package.
func (b *builder) file(pkg string) *descriptorpb.FileDescriptorProto {
	if b.files[pkg] == nil {
		b.files[pkg] = &descriptorpb.FileDescriptorProto{Name: str(pkg), Package: str(pkg), Syntax: str("proto3")}
	}
	return b.files[pkg]
}

func (b *builder) message(name string) *descriptorpb.DescriptorProto {
	_, short := split(name)
	message := &descriptorpb.DescriptorProto{Name: &short}
	for nested := range b.facts.Messages {
		if parent, _ := split(nested); parent == name {
			message.NestedType = append(message.NestedType, b.message(nested))
		}
	}
	for nested := range b.facts.Enums {
		if parent, _ := split(nested); parent == name {
			message.EnumType = append(message.EnumType, b.enum(nested))
		}
	}
	fields := b.facts.Messages[name]
	inOrder := declared(fields)
	oneofs := []string{}
	for _, fieldName := range inOrder {
		if oneof := fields[fieldName].options.Oneof; oneof != "" && !slices.Contains(oneofs, oneof) {
			oneofs = append(oneofs, oneof)
		}
	}
	for _, fieldName := range inOrder {
		one := b.field(name, fieldName, fields[fieldName], message)
		if oneof := fields[fieldName].options.Oneof; oneof != "" {
			one.OneofIndex = proto.Int32(int32(slices.Index(oneofs, oneof)))
		}
		// The presence of an optional field is a oneof of its own, behind all others.
		if one.GetProto3Optional() {
			one.OneofIndex = proto.Int32(int32(len(oneofs)))
			oneofs = append(oneofs, "_"+fieldName)
		}
		message.Field = append(message.Field, one)
	}
	for _, oneof := range oneofs {
		message.OneofDecl = append(message.OneofDecl, &descriptorpb.OneofDescriptorProto{Name: str(oneof)})
	}
	return message
}

func (b *builder) field(owner, name string, read field, message *descriptorpb.DescriptorProto) *descriptorpb.FieldDescriptorProto {
	typeName, repeated := strings.CutPrefix(read.typeName, "repeated ")
	typeName, optional := strings.CutPrefix(typeName, "optional ")
	field := &descriptorpb.FieldDescriptorProto{
		Name: &name, Number: &read.number, Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
	}
	if json := read.options.JSON; json != "" {
		field.JsonName = &json
	}
	if optional {
		field.Proto3Optional = proto.Bool(true)
	}
	if pair, isMap := strings.CutPrefix(typeName, "map<"); isMap {
		key, value, _ := strings.Cut(strings.TrimSuffix(pair, ">"), ",")
		entry := &descriptorpb.DescriptorProto{
			Name:    str(entryName(name)),
			Options: &descriptorpb.MessageOptions{MapEntry: proto.Bool(true)},
		}
		for number, part := range []string{key, value} {
			member := b.field(owner, []string{"key", "value"}[number], fieldOf(int32(number+1), part), entry)
			entry.Field = append(entry.Field, member)
		}
		message.NestedType = append(message.NestedType, entry)
		field.Type, field.TypeName = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum(), str("."+owner+"."+entry.GetName())
		repeated = true
	} else if number, isScalar := descriptorpb.FieldDescriptorProto_Type_value["TYPE_"+strings.ToUpper(typeName)]; isScalar {
		field.Type = descriptorpb.FieldDescriptorProto_Type(number).Enum()
	} else {
		b.refer(owner, typeName, field)
	}
	if repeated {
		field.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
	}
	return field
}

func fieldOf(number int32, typeName string) field {
	return field{number: number, typeName: strings.TrimSpace(typeName)}
}

// declared returns the names in the order of their numbers, but the members of a oneof together, as descriptors must have them.
func declared(fields map[string]field) []string {
	first := map[string]int32{}
	for _, one := range fields {
		if oneof := one.options.Oneof; oneof != "" && (first[oneof] == 0 || one.number < first[oneof]) {
			first[oneof] = one.number
		}
	}
	place := func(one field) int32 { return cmp.Or(first[one.options.Oneof], one.number) }
	return slices.SortedFunc(maps.Keys(fields), func(one, other string) int {
		return cmp.Or(cmp.Compare(place(fields[one]), place(fields[other])), cmp.Compare(fields[one].number, fields[other].number))
	})
}
