package xnn

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// TestEveryOperator holds the table of operators against XNNPACK's own header: whatever it can define, and does not call
// deprecated, is what some operator of package graph is lowered to.
func TestEveryOperator(t *testing.T) {
	header, err := os.ReadFile(filepath.Join("..", "third_party", "out", runtime.GOOS+"_"+runtime.GOARCH, "include", "xnnpack.h"))
	if err != nil {
		t.Skip("the header is not in this checkout: the archive was installed elsewhere")
	}
	// Not operators: how values are described, and names that mean "none".
	describes := regexp.MustCompile(`_tensor_value(_v2)?$|_invalid$`)
	// Earlier forms of what is there in a newer one.
	earlier := map[string]string{
		"xnn_define_static_reduce":  "xnn_define_static_reduce_v2",
		"xnn_define_depth_to_space": "xnn_define_depth_to_space_2d",
	}
	// Declared, but nowhere defined in XNNPACK's sources.
	missing := map[string]bool{}

	var wanted []string
	for _, m := range regexp.MustCompile(`(?m)^(XNN_DEPRECATED )?enum xnn_status (xnn_define_\w+)\(`).FindAllStringSubmatch(string(header), -1) {
		if m[1] == "" {
			wanted = append(wanted, m[2])
		}
	}
	functions := len(wanted)
	for _, m := range regexp.MustCompile(`(?m)^  (xnn_(?:unary|binary|reduce)_\w+)(?: = -1)?,`).FindAllStringSubmatch(string(header), -1) {
		wanted = append(wanted, m[1])
	}
	require.Greater(t, functions, 30)
	require.Greater(t, len(wanted)-functions, 40)

	lowered := map[string]bool{}
	for kind, l := range lowerings {
		require.NotEmpty(t, l.api, kind)
		require.Contains(t, graph.Operators(), kind)
		for _, name := range strings.Fields(l.api) {
			lowered[name] = true
			require.Contains(t, string(header), name, kind)
		}
	}
	for _, name := range wanted {
		switch {
		case describes.MatchString(name), missing[name]:
		case earlier[name] != "":
			require.True(t, lowered[earlier[name]], name)
		default:
			require.True(t, lowered[name], "%s has no operator", name)
		}
	}
	for _, kind := range graph.Operators() {
		require.Contains(t, lowerings, kind)
		require.NotEmpty(t, graph.Signatures(kind), kind)
	}
}
