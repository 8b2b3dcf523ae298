package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
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

// Work of more than a second is shown on a terminal, and taken away at the end; shorter work never is.
func TestProgress(t *testing.T) {
	for took, shown := range map[string]bool{"1600ms": true, "200ms": false} {
		master, slave := terminal(t)
		cmd := exec.Command(toolPath, "bench", fixture("add"), "--time", took, "--json")
		cmd.Stderr = slave
		require.NoError(t, cmd.Run())
		require.NoError(t, slave.Close())
		require.NoError(t, master.SetReadDeadline(time.Now().Add(time.Second)))
		seen, _ := io.ReadAll(master) // ends with an error where nobody has the other end
		if shown {
			require.Contains(t, string(seen), "bench ")
			require.Contains(t, string(seen), "%")
			last := string(seen)[strings.LastIndex(strings.TrimRight(string(seen), "\r\n"), "\r")+1:]
			require.Empty(t, strings.TrimSpace(strings.ReplaceAll(last, "\x1b[2K", "")), "%q", seen)
		} else {
			require.Empty(t, string(seen))
		}
	}
}
