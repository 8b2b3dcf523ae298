package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// terminal opens both ends of a pseudo-terminal.
func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { master.Close() })
	require.NoError(t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	return master, slave
}

// onTerminal runs the tool with a terminal for standard error and gives what is seen there.
func onTerminal(t *testing.T, meanwhile func(), args ...string) string {
	t.Helper()
	master, slave := terminal(t)
	cmd := exec.Command(toolPath, args...)
	cmd.Stderr = slave
	require.NoError(t, cmd.Start())
	meanwhile()
	require.NoError(t, cmd.Wait())
	require.NoError(t, slave.Close())
	require.NoError(t, master.SetReadDeadline(time.Now().Add(time.Second)))
	seen, _ := io.ReadAll(master) // ends with an error where nobody has the other end
	return string(seen)
}

// requireCleared wants nothing on the last line.
func requireCleared(t *testing.T, seen string) {
	t.Helper()
	last := seen[strings.LastIndex(strings.TrimRight(seen, "\r\n"), "\r")+1:]
	require.Empty(t, strings.TrimSpace(strings.ReplaceAll(last, "\x1b[2K", "")), "%q", seen)
}

// Work of more than a second is shown on a terminal, and taken away at the end; shorter work never is.
func TestProgress(t *testing.T) {
	seen := onTerminal(t, func() {}, "bench", fixture("add"), "--time", "1600ms", "--json")
	require.Contains(t, seen, "bench ")
	require.Contains(t, seen, "%")
	requireCleared(t, seen)
	require.Empty(t, onTerminal(t, func() {}, "bench", fixture("add"), "--time", "200ms", "--json"))
}

// So is work of which nothing is known: here a model that comes slowly.
func TestProgressUnknown(t *testing.T) {
	file, err := os.ReadFile(fixture("add"))
	require.NoError(t, err)
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, unix.Mkfifo(pipe, 0o600))
	seen := onTerminal(t, func() {
		w, err := os.OpenFile(pipe, os.O_WRONLY, 0)
		require.NoError(t, err)
		time.Sleep(1800 * time.Millisecond)
		_, err = w.Write(file)
		require.NoError(t, err)
		require.NoError(t, w.Close())
	}, "inspect", pipe, "--json")
	require.Contains(t, seen, "read "+pipe)
	requireCleared(t, seen)
}
