package interop

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// A Step is one call and what must come of it. `$name` in its texts stands for a value that was kept before.
type Step struct {
	Method, Request string
	// A part of the answer. A list must have the same length.
	Want string
	// `group=id` keeps the member `id` of the answer as `$group`; `viewer=items.0.id` goes deeper.
	Keep string
	// The code of a refusal.
	Code codes.Code
}

// Run calls the steps one after another and stops at the first that is wrong.
func (c *Client) Run(ctx context.Context, steps []Step, values map[string]string) error {
	expand := func(text string) string { return os.Expand(text, func(name string) string { return values[name] }) }
	for at, step := range steps {
		request := expand(step.Request)
		answer, err := c.Call(ctx, step.Method, request)
		if code := status.Code(err); code != step.Code {
			return fmt.Errorf("step %d, %s %s: code %s, %v", at+1, step.Method, request, code, err)
		}
		if step.Want != "" {
			var want any
			if err := json.Unmarshal([]byte(expand(step.Want)), &want); err != nil {
				return fmt.Errorf("step %d: %w", at+1, err)
			}
			if !holds(answer, want) {
				text, _ := json.Marshal(answer)
				return fmt.Errorf("step %d, %s %s: %s does not hold %s", at+1, step.Method, request, text, expand(step.Want))
			}
		}
		if name, path, keeps := strings.Cut(step.Keep, "="); keeps {
			value, found := member(answer, path).(string)
			if !found {
				return fmt.Errorf("step %d, %s %s: the answer has no text %s", at+1, step.Method, request, path)
			}
			values[name] = value
		}
	}
	return nil
}

// holds tells whether an answer has what is wanted, and perhaps more members.
func holds(answer, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		members, isObject := answer.(map[string]any)
		for name, value := range want {
			if !isObject || !holds(members[name], value) {
				return false
			}
		}
		return isObject
	case []any:
		rows, isList := answer.([]any)
		if !isList || len(rows) != len(want) {
			return false
		}
		for at := range want {
			if !holds(rows[at], want[at]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(answer, want)
}

// member follows a path, `items.0.id`.
func member(value any, path string) any {
	for _, name := range strings.Split(path, ".") {
		switch inner := value.(type) {
		case map[string]any:
			value = inner[name]
		case []any:
			var at int
			if _, err := fmt.Sscan(name, &at); err != nil || at >= len(inner) {
				return nil
			}
			value = inner[at]
		}
	}
	return value
}
