package interop

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// What the caller of this test has started, from the environment variable CROSSWALK_INTEROP.
type setting struct {
	Token, Organization string
	// The repo that has LargeTags tags.
	LargeRepo string
	LargeTags int
	// Proxies by what is special about them, and the versions that clients of each speak.
	Targets map[string]struct {
		URL      string
		Versions []string
	}
}

func readSetting(t *testing.T) setting {
	t.Helper()
	text := os.Getenv("CROSSWALK_INTEROP")
	if text == "" {
		t.Skip("nothing is started: npm run interop does it")
	}
	var read setting
	must(t, json.Unmarshal([]byte(text), &read))
	return read
}

func dial(t *testing.T, version, address, token string) *Client {
	t.Helper()
	client, err := Dial(version, address, token)
	must(t, err)
	t.Cleanup(func() { must(t, client.Close()) })
	return client
}

func within(t *testing.T, limit time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	return ctx
}

// Each service's cycle, with the clients of each version, at each proxy.
func TestCycles(t *testing.T) {
	started := readSetting(t)
	for _, name := range slices.Sorted(maps.Keys(started.Targets)) {
		target := started.Targets[name]
		for _, version := range target.Versions {
			client := dial(t, version, target.URL, started.Token)
			cycles := cyclesOf(version)
			for _, cycle := range slices.Sorted(maps.Keys(cycles)) {
				t.Run(fmt.Sprintf("%s, %s: %s", name, version, cycle), func(t *testing.T) {
					run := fmt.Sprintf("go-%s-%s", strings.ReplaceAll(name, " ", "-"), version)
					must(t, client.Run(within(t, 30*time.Second), cycles[cycle], map[string]string{"org": started.Organization, "run": run}))
				})
			}
		}
	}
}

func cyclesOf(version string) map[string][]Step {
	if version == "v1" {
		return cyclesV1
	}
	named := map[string][]Step{}
	for cycle, steps := range cyclesV2 {
		for _, step := range steps {
			step.Method = strings.Replace(step.Method, ".v2.", "."+version+".", 1)
			named[cycle] = append(named[cycle], step)
		}
	}
	return named
}
