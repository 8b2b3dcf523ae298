package xnn

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// neighbours are words that checks of w are forgotten for.
func neighbours(w uint32) []uint32 {
	list := []uint32{w - 1, w + 1, w + 2, 2 * w, w / 2, -w, w ^ 1<<31}
	return append(list, wordsOfInterest...)
}

// trials count what became of hostile files.
type trials struct {
	tried, ran int
	slowest    time.Duration
}

// try is attempt, in a test that says where a file comes from.
func (c *trials) try(t *testing.T, data []byte, format string, args ...any) {
	start := time.Now()
	ok, err := attempt(data)
	c.slowest = max(c.slowest, time.Since(start))
	if err != nil {
		kept := filepath.Join(os.TempDir(), fmt.Sprintf("hostile-%d-%d.bin", os.Getpid(), c.tried))
		require.NoError(t, os.WriteFile(kept, data, 0o600))
		t.Errorf("%s, kept as %s: %v", fmt.Sprintf(format, args...), kept, err)
	}
	if stats := MemStats(); stats != (MemoryStats{}) {
		t.Fatalf("%s: holds %+v", fmt.Sprintf(format, args...), stats)
	}
	c.tried++
	if ok {
		c.ran++
	}
}

// sparsely is how many trials stand for one, where there is no time for all.
func sparsely() int {
	switch {
	case long:
		return 1
	case instrumented:
		return 64
	}
	return 8
}

// TestEveryWord gives every word of files with every operator, one at a time, every value that a check may be forgotten for.
func TestEveryWord(t *testing.T) {
	nothingHeld(t)
	var c trials
	files := operatorFiles(t)
	for n, data := range files {
		full := inflated(data)
		before, err := attempt(data)
		require.NoError(t, err, "file %d", n)
		after, err := attempt(full)
		require.NoError(t, err, "file %d", n)
		require.Equal(t, before, after, "file %d means something else when its tables have every field", n)
		first := (len(data) + 3) &^ 3 // of the tables with every field: the rest of the file only where time is no matter
		if long {
			first = 0
		}
		for at := first; at+4 <= len(full); at += 4 {
			was := binary.LittleEndian.Uint32(full[at:])
			for i, w := range neighbours(was) {
				if (at/4+i)%sparsely() == 0 {
					binary.LittleEndian.PutUint32(full[at:], w)
					c.try(t, full, "file %d, word at byte %d is %d instead of %d", n, at, w, was)
				}
			}
			binary.LittleEndian.PutUint32(full[at:], was)
		}
	}
	t.Logf("%d files from %d, %d of them ran, the slowest took %v", c.tried, len(files), c.ran, c.slowest)
}

// TestEverySize does the same with words that are equal, all at once, as the sizes of tensors that go together are.
func TestEverySize(t *testing.T) {
	nothingHeld(t)
	var c trials
	for n, data := range operatorFiles(t) {
		words := map[uint32]bool{}
		for at := 0; at+4 <= len(data); at += 4 {
			words[binary.LittleEndian.Uint32(data[at:])] = true
		}
		for was := range uint32(1 << 12) {
			if was < 2 || !words[was] {
				continue
			}
			for i, w := range sizesOfInterest(was) {
				if (int(was)+n+i)%sparsely() == 0 {
					other := bytes.Clone(data)
					replaceWords(other, was, w)
					c.try(t, other, "file %d, %d in place of %d", n, w, was)
				}
			}
		}
	}
	t.Logf("%d files, %d of them ran, the slowest took %v", c.tried, c.ran, c.slowest)
}
