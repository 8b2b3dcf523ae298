package conformance

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn"
)

// report is what TestMain prints, whether or not the tests are verbose.
var report strings.Builder

func TestMain(m *testing.M) {
	status := m.Run()
	fmt.Print(report.String())
	os.Exit(status)
}

// TestConformance runs every case of the test data. A case is a subtest: -run 'TestConformance/node/test_add$' -v.
func TestConformance(t *testing.T) { runAll(t, "conformance", false, 600) }

// TestHalf runs them in half precision, where they are of single. It holds the kernels for it to what the others are held to; how
// exact they are is for other tests.
func TestHalf(t *testing.T) { runAll(t, "conformance in half precision", true, 550) }

// coarse are cases whose inputs half precision cannot tell apart, or whose result a little of them changes much.
var coarse = []string{
	"node/test_logsoftmax_large_number", "node/test_logsoftmax_large_number_expanded", // 10000, 10001, 10002, 10003
	"node/test_softmax_large_number", "node/test_softmax_large_number_expanded",
	"node/test_tan", // near a pole
}

// runAll runs the cases, of which at least so many must not be left out.
func runAll(t *testing.T, title string, half bool, atLeast int) {
	folders, err := caseFolders()
	require.NoError(t, err)
	if len(folders) == 0 {
		fmt.Fprintf(&report, "%s: no cases in %s; install Debian's package libonnx-testdata\n", title, dataFolder())
		t.Skip("no cases")
	}
	s := summary{left: map[string]map[string]int{}}
	for _, folder := range folders {
		c, err := loadCase(folder)
		require.NoError(t, err, folder)
		t.Run(c.name, func(t *testing.T) {
			o := protected(c, half)
			if half && slices.Contains(coarse, c.name) {
				o = outcome{left: &leftOut{"inputs that half precision cannot tell apart", c.name}}
			}
			s.add(c, o)
			switch {
			case o.left != nil:
				t.Skipf("%s: %s", o.left.reason, o.left.detail)
			case o.err != nil:
				t.Error(o.err)
			}
		})
	}
	s.write(title)
	if s.total() == len(folders) { // all, not those that -run picks
		require.GreaterOrEqual(t, s.passed+len(s.failed), atLeast, "cases that ran")
		require.Equal(t, xnn.MemoryStats{}, xnn.MemStats(), "memory that no case gave back")
	}
}

// protected turns a panic, which no graph may cause, into a failure.
func protected(c *testCase, half bool) (o outcome) {
	defer func() {
		if r := recover(); r != nil {
			o = outcome{err: fmt.Errorf("panic: %v\n%s", r, debug.Stack())}
		}
	}()
	return c.run(half)
}

// summary counts outcomes.
type summary struct {
	passed int
	failed []string
	left   map[string]map[string]int // by reason and detail
}

func (s *summary) add(c *testCase, o outcome) {
	switch {
	case o.left != nil:
		if s.left[o.left.reason] == nil {
			s.left[o.left.reason] = map[string]int{}
		}
		s.left[o.left.reason][o.left.detail]++
	case o.err != nil:
		s.failed = append(s.failed, c.name)
	default:
		s.passed++
	}
}

func (s *summary) leftOut() int {
	n := 0
	for _, details := range s.left {
		for _, count := range details {
			n += count
		}
	}
	return n
}

func (s *summary) total() int { return s.passed + len(s.failed) + s.leftOut() }

// write adds the table to the report.
func (s *summary) write(title string) {
	fmt.Fprintf(&report, "%s: %d cases, %d ran, %d passed, %d failed, %d left out\n",
		title, s.total(), s.passed+len(s.failed), s.passed, len(s.failed), s.leftOut())
	for _, name := range s.failed {
		fmt.Fprintf(&report, "  failed: %s\n", name)
	}
	for _, reason := range slices.Sorted(maps.Keys(s.left)) {
		details := s.left[reason]
		n := 0
		var words []string
		for _, detail := range slices.SortedFunc(maps.Keys(details), func(a, b string) int {
			return cmp.Or(details[b]-details[a], strings.Compare(a, b))
		}) {
			n += details[detail]
			words = append(words, fmt.Sprintf("%s %d", detail, details[detail]))
		}
		fmt.Fprintf(&report, "  left out, %s: %d: %s\n", reason, n, strings.Join(words, ", "))
	}
}
