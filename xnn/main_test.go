package xnn

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// childEnv names the entry of children that a process started by a test runs in place of the tests.
const childEnv = "XNNGO_TEST_CHILD"

// children are the bodies of child processes, for what would end or disturb the process of the tests.
var children = map[string]func(){}

// long says that the tests shall count as far as the module promises, which takes minutes to hours.
var long = os.Getenv("XNNGO_LONG") != ""

// TestMain holds the tests as a whole to what every user relies on: after the last Close nothing is held.
func TestMain(m *testing.M) {
	if body := children[os.Getenv(childEnv)]; body != nil {
		body()
		os.Exit(0)
	}
	goroutines := runtime.NumGoroutine()
	code := m.Run()
	if code == 0 {
		if err := leftOver(goroutines); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// leftOver waits for what was dropped without Close to be freed, and tells what stays.
func leftOver(goroutines int) error {
	var err error
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		runtime.GC()
		err = nil
		if s := MemStats(); s != (MemoryStats{}) {
			err = fmt.Errorf("C memory is still held after the tests: %+v", s)
		} else if n := runtime.NumGoroutine(); n > goroutines && !fuzzing() {
			stacks := make([]byte, 1<<16)
			err = fmt.Errorf("%d goroutines before the tests, %d after:\n%s", goroutines, n, stacks[:runtime.Stack(stacks, true)])
		} else {
			return nil
		}
	}
	return err
}

// fuzzing says that the go command fuzzes, which leaves a goroutine of its own.
func fuzzing() bool { return flag.Lookup("test.fuzz").Value.String() != "" }

// nothingHeld fails the test if it, with all its clean-ups, leaves more C memory than there was.
func nothingHeld(t testing.TB) {
	before := MemStats()
	t.Cleanup(func() { require.Equal(t, before, MemStats(), "C memory is held after the test") })
}

// rss is the resident memory of the process in bytes, 0 where it cannot be told.
func rss() int64 { return statusKiB("VmRSS:") << 10 }

// resetPeakRSS lets peakRSS start again from what is resident now, where the system can do that, and gives it.
func resetPeakRSS() int64 {
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
	return peakRSS()
}

// peakRSS is the most it was.
func peakRSS() int64 { return statusKiB("VmHWM:") << 10 }

// osThreads is the number of threads of the process.
func osThreads() int64 { return statusKiB("Threads:") }

func statusKiB(field string) int64 {
	b, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, field); ok {
			n, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return n
		}
	}
	return 0
}
