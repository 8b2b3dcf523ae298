package xnn

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

const weightsFolder = "XNNGO_TEST_WEIGHTS"

func init() {
	children["full disk"] = func() {
		signal.Ignore(unix.SIGXFSZ) // the system's answer is an error then
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 1 << 10, Max: 1 << 10}); err != nil {
			panic(err)
		}
		m := must(Compile(packing(), WithWeightsCache(os.Getenv(weightsFolder))))
		found, err := m.WeightsCache()
		must(answer(m))
		if found || !errors.Is(err, unix.EFBIG) {
			panic(fmt.Sprint(found, err))
		}
	}
	children["weights"] = func() {
		want := must(answer(must(Compile(packing()))))
		for range 100 {
			m := must(Compile(packing(), WithWeightsCache(os.Getenv(weightsFolder))))
			if _, err := m.WeightsCache(); err != nil {
				panic(err)
			}
			if got := must(answer(m)); string(got) != string(want) {
				panic("another answer")
			}
			_ = m.Close()
		}
	}
}

// TestWeightsCacheFullDisk leaves no half a file behind.
func TestWeightsCacheFullDisk(t *testing.T) {
	folder := t.TempDir()
	t.Setenv(weightsFolder, folder)
	out, err := child(t, "full disk", 20*time.Second)
	require.NoError(t, err, out)
	require.Empty(t, must(os.ReadDir(folder)))
}

// TestWeightsCacheOfManyProcesses: some write, read and replace at the same time, while files are damaged and vanish.
func TestWeightsCacheOfManyProcesses(t *testing.T) {
	folder := t.TempDir()
	exe, err := os.Executable()
	require.NoError(t, err)
	var ended [4]chan error
	for i := range ended {
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), childEnv+"=weights", weightsFolder+"="+folder)
		ended[i] = make(chan error, 1)
		go func() {
			out, err := cmd.CombinedOutput()
			if err != nil {
				err = fmt.Errorf("%w: %s", err, out)
			}
			ended[i] <- err
		}()
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, end := range ended {
		for running := true; running; {
			select {
			case err := <-end:
				require.NoError(t, err)
				running = false
			case <-time.After(time.Millisecond):
				names, _ := filepath.Glob(filepath.Join(folder, "*.weights"))
				for _, name := range names {
					if r.IntN(2) == 0 {
						_ = os.Remove(name)
					} else if data, err := os.ReadFile(name); err == nil && len(data) > 0 {
						// Another file in its place: one that is mapped must not change.
						data[r.IntN(len(data))] ^= 1
						require.NoError(t, os.WriteFile(name+".damaged", data, 0o600))
						require.NoError(t, os.Rename(name+".damaged", name))
					}
				}
			}
		}
	}
}
