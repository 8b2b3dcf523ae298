package xnn

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/cgo/xnnpack"
)

// hostileLimit is the memory limit that hostile files are loaded with. Blocks count with their alignment, and XNNPACK's
// own descriptors count, too: hostileSlack is for those.
const hostileLimit, hostileSlack = 64 << 20, 1 << 20

// hostileTime is what loading a file, or running it, may take.
const hostileTime = 5 * time.Second

// underTest, where the environment names a file, gets each hostile file before it is loaded: a signal leaves no other trace.
var underTest = os.Getenv("XNNGO_HOSTILE")

// attempt loads a file that may be anything, and runs it where it loads, also in half precision. It tells whether it ran and
// reports what must never be.
func attempt(data []byte) (ran bool, err error) {
	if ran, err = attemptIn(Float32, data); ran {
		if _, err = attemptIn(Float16, data); err != nil {
			err = fmt.Errorf("in half precision: %w", err)
		}
	}
	return ran, err
}

func attemptIn(precision DType, data []byte) (ran bool, err error) {
	if underTest != "" {
		if err := os.WriteFile(underTest, data, 0o600); err != nil {
			return false, err
		}
	}
	start := time.Now()
	m, err := Load(data, WithMemoryLimit(hostileLimit), WithThreads(1), WithPrecision(precision))
	defer m.Close()
	if took := time.Since(start); took > hostileTime {
		return false, fmt.Errorf("loading took %v", took)
	}
	if err != nil {
		var e *Error
		if !errors.As(err, &e) || e.Kind == nil || e.Stage == "" || e.Detail == "" {
			return false, fmt.Errorf("an error without stage, kind or detail: %w", err)
		}
		if m != nil {
			return false, fmt.Errorf("a model came with %w", err)
		}
		return false, nil
	}
	s, err := m.NewSession()
	switch {
	case errors.Is(err, ErrMemoryLimit), errors.Is(err, ErrArenaTooSmall):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("what loads must run: %w", err)
	}
	r := rand.New(rand.NewPCG(uint64(crc32.ChecksumIEEE(data)), 3))
	for range 3 {
		if err := runHostile(r, s); err != nil {
			return false, err
		}
		if held := MemStats().Total; held > hostileLimit+hostileSlack {
			return false, fmt.Errorf("%d bytes are held", held)
		}
		// Whether the session takes other shapes or not, it runs.
		shapes := otherShapes(r, s)
		err := s.Reshape(shapes...)
		if err != nil && !errors.Is(err, ErrShape) && !errors.Is(err, ErrMemoryLimit) && !errors.Is(err, ErrArenaTooSmall) &&
			!errors.Is(err, ErrUnsupported) && !errors.Is(err, ErrGraph) {
			return false, fmt.Errorf("reshape to %v: %w", shapes, err)
		}
	}
	return true, nil
}

// runHostile runs a session with inputs that are no numbers, or not in any range.
func runHostile(r *rand.Rand, s *Session) error {
	for i := range s.core.inputs {
		x := s.Input(i).Bytes()
		fill, step := []byte{0, 1, 0x7f, 0x80, 0xff}[r.IntN(5)], 1
		if len(x) > 1<<16 {
			step = 4096
		}
		for j := 0; j < len(x); j += step {
			x[j] = fill
		}
	}
	const canary = 0xa5
	for i := range s.core.outputs {
		for j, tail := 0, behindOutput(s, i); j < len(tail); j++ {
			tail[j] = canary
		}
	}
	start := time.Now()
	if err := s.Run(); err != nil {
		return err
	}
	if took := time.Since(start); took > hostileTime {
		return fmt.Errorf("running took %v", took)
	}
	for i := range s.core.outputs {
		if tail := behindOutput(s, i); bytes.Count(tail, []byte{canary}) != len(tail) {
			return fmt.Errorf("output %d of %v was written past its end", i, s.Output(i).Shape())
		}
	}
	return nil
}

// behindOutput is the memory that kernels may read behind an output, and must not write.
func behindOutput(s *Session, i int) []byte {
	end := unsafe.Add(s.core.outputs[i].memory.Pointer(), len(s.Output(i).Bytes()))
	return unsafe.Slice((*byte)(end), xnnpack.ExtraBytes())
}

// otherShapes are what the inputs of a session may become: a little more or less of some dimensions.
func otherShapes(r *rand.Rand, s *Session) []Shape {
	var shapes []Shape
	for i := range s.core.inputs {
		shape := slices.Clone(s.Input(i).Shape())
		for j := range shape {
			switch r.IntN(4) {
			case 0:
				shape[j] = max(0, shape[j]+r.IntN(5)-2)
			case 1:
				shape[j] *= 1 + r.IntN(3)
			}
		}
		shapes = append(shapes, shape)
	}
	return shapes
}

// TestHostileFiles are mutations of valid ones. Any panic or signal ends the test; memory and time are bounded.
func TestHostileFiles(t *testing.T) {
	nothingHeld(t)
	n := 20000
	if instrumented {
		n = 2000
	}
	if long {
		n = 1000000
	}
	seed := uint64(time.Now().UnixNano())
	if !long {
		seed = 1
	}
	r := rand.New(rand.NewPCG(seed, 2))
	files := seeds(t)
	t.Logf("seed %d, %d files to start from", seed, len(files))
	peak, slowest, ran := resetPeakRSS(), time.Duration(0), 0
	for i := range n {
		data := mutate(r, files[r.IntN(len(files))], files[r.IntN(len(files))])
		if i%500 == 0 { // right in all but what it asks for
			data = chained(r.Uint32N(hostileLimit), 1+r.Uint32N(4096), 1+r.Uint32N(2048)).bytes()
		}
		start := time.Now()
		ok, err := attempt(data)
		slowest = max(slowest, time.Since(start))
		if err != nil {
			path := filepath.Join(os.TempDir(), fmt.Sprintf("hostile-%d-%d.bin", seed, i))
			require.NoError(t, os.WriteFile(path, data, 0o600))
			t.Fatalf("mutation %d of seed %d, kept as %s: %v", i, seed, path, err)
		}
		if stats := MemStats(); stats != (MemoryStats{}) {
			t.Fatalf("mutation %d of seed %d holds %+v", i, seed, stats)
		}
		if ok {
			ran++
		}
	}
	t.Logf("seed %d: %d files, %d of them ran, the slowest took %v, peak of resident memory %d MiB over %d MiB", seed, n, ran,
		slowest, (peakRSS()-peak)>>20, peak>>20)
	if !instrumented {
		require.Less(t, peakRSS()-peak, int64(hostileLimit+32<<20))
	}
}

// TestEveryBitAndEveryLength of a small file.
func TestEveryBitAndEveryLength(t *testing.T) {
	nothingHeld(t)
	good := addConst(3).bytes()
	for n := range good {
		_, err := attempt(good[:n:n])
		require.NoError(t, err)
		_, err = Load(good[:n:n])
		require.Error(t, err, "cut at %d of %d", n, len(good))
		failed(t, err, kindOf(t, err))
	}
	for bit := range 8 * len(good) {
		flipped := append([]byte{}, good...)
		flipped[bit/8] ^= 1 << (bit % 8)
		_, err := attempt(flipped)
		require.NoError(t, err, "bit %d", bit)
	}
}

// TestOtherFiles are of formats that users mix up with this one.
func TestOtherFiles(t *testing.T) {
	for name, data := range map[string][]byte{
		"nil": nil, "empty": {},
		"tflite": []byte("\x1c\x00\x00\x00TFL3\x14\x00\x20\x00\x1c\x00\x18\x00\x14\x00\x10\x00\x0c\x00\x00\x00" +
			"\x08\x00\x04\x00\x14\x00\x00\x00"),
		"zip":  []byte("PK\x03\x04\x14\x00\x00\x00\x08\x00abcdefghijklmnop"),
		"onnx": []byte("\x08\x07\x12\x07pytorch\x1a\x032.0:\x9c\x01"),
		"ones": {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255},
	} {
		_, err := Load(data)
		failed(t, err, ErrFormat)
		_, err = attempt(data)
		require.NoError(t, err, name)
	}
	for _, id := range []string{"XN00", "XN01", "XH00"} {
		_, err := Load([]byte("\x1c\x00\x00\x00" + id + "\x14\x00\x20\x00\x1c\x00\x18\x00\x14\x00\x10\x00\x0c\x00\x00\x00"))
		failed(t, err, ErrFormat)
	}
}

// TestLargeGraphs are legal and take time in proportion to their size.
func TestLargeGraphs(t *testing.T) {
	nothingHeld(t)
	n := 20000
	if instrumented {
		n = 2000
	}
	// A chain, then the same with its nodes in the reverse order.
	f := file{externs: 2, values: []value{input(0, 1), output(1, 1)}}
	last := uint32(0)
	for i := range n {
		id := uint32(i + 2)
		f.values = append(f.values, inner(id, 1))
		f.nodes = append(f.nodes, node{a: last, b: 0, out: id})
		last = id
	}
	f.nodes = append(f.nodes, node{a: last, b: 0, out: 1})
	for range 2 {
		start := time.Now()
		m, err := Load(f.bytes())
		require.NoError(t, err)
		require.Less(t, time.Since(start), 5*time.Second)
		require.Equal(t, [][]float32{{float32(n + 2)}}, run(t, opened(t, m), []float32{1}))
		require.NoError(t, m.Close())
		for i, j := 0, len(f.nodes)-1; i < j; i, j = i+1, j-1 {
			f.nodes[i], f.nodes[j] = f.nodes[j], f.nodes[i]
		}
	}
}
