package xnn

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	wire "github.com/xnngo/xnngo/schema/tflite"
	"github.com/xnngo/xnngo/xnn/internal/tfbuild"
)

// TestHostileTFLite: mutations of TensorFlow Lite files through reading, checking, loading and running. Any panic or signal ends
// the test; memory and time are bounded.
func TestHostileTFLite(t *testing.T) {
	nothingHeld(t)
	n := 10000
	if instrumented {
		n = 1000
	}
	seed := uint64(1)
	if long {
		n, seed = 1000000, uint64(time.Now().UnixNano())
	}
	r := rand.New(rand.NewPCG(seed, 3))
	var files [][]byte
	cases := tfCases()
	for _, c := range cases {
		files = append(files, c.file.Bytes())
		if len(c.file.Tensors) < 6 {
			c.file.Behind = true
			files = append(files, c.file.Bytes())
		}
	}
	for _, data := range files {
		_, err := attempt(data)
		require.NoError(t, err)
	}
	peak, slowest, ran := resetPeakRSS(), time.Duration(0), 0
	for i := range n {
		data := mutate(r, files[r.IntN(len(files))], files[r.IntN(len(files))])
		if i%2 == 0 { // well-formed, but saying something else
			data = misread(r, cases[r.IntN(len(cases))].file).Bytes()
		}
		start := time.Now()
		ok, err := attempt(data)
		slowest = max(slowest, time.Since(start))
		if err != nil {
			path := filepath.Join(os.TempDir(), fmt.Sprintf("hostile-%d-%d.tflite", seed, i))
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
		require.Less(t, peakRSS()-peak, int64(hostileLimit+128<<20))
	}
}

// misread changes what a file says here and there: shapes, types, scales, data, operands, operators and their options.
func misread(r *rand.Rand, f tfbuild.File) tfbuild.File {
	f.Tensors, f.Ops = slices.Clone(f.Tensors), slices.Clone(f.Ops)
	f.Inputs, f.Outputs = slices.Clone(f.Inputs), slices.Clone(f.Outputs)
	numbers := []int{-7, -2, -1, 0, 1, 2, 3, 4, 5, 8, 16, 100, 255, 65536, 1 << 30, math.MaxInt32, math.MinInt32}
	number := func() int { return numbers[r.IntN(len(numbers))] }
	small := func(n int) int { return r.IntN(n+2) - 1 }
	for range 1 + r.IntN(3) {
		t, o := &f.Tensors[r.IntN(len(f.Tensors))], &f.Ops[r.IntN(len(f.Ops))]
		switch r.IntN(14) {
		case 0, 1:
			if t.Shape = slices.Clone(t.Shape); len(t.Shape) > 0 {
				t.Shape[r.IntN(len(t.Shape))] = number()
			}
		case 2:
			t.Shape = slices.Insert(slices.Clone(t.Shape), r.IntN(len(t.Shape)+1), max(1, r.IntN(3)))
		case 3:
			if n := len(t.Shape); n > 0 {
				t.Shape = slices.Delete(slices.Clone(t.Shape), n-1, n)
			}
		case 4:
			t.Type = wire.TensorType(r.IntN(20))
		case 5:
			t.Scale, t.Axis = append(slices.Clone(t.Scale), float32(number())), small(4)
		case 6:
			t.Zero = []int64{int64(number())}
		case 7:
			if values, ok := t.Data.([]int32); ok && len(values) > 0 {
				values = slices.Clone(values)
				values[r.IntN(len(values))] = int32(number())
				t.Data = values
			} else {
				t.Data = f.Tensors[r.IntN(len(f.Tensors))].Data
			}
		case 8:
			if o.In = slices.Clone(o.In); len(o.In) > 0 {
				o.In[r.IntN(len(o.In))] = small(len(f.Tensors))
			}
		case 9:
			o.In = append(slices.Clone(o.In), small(len(f.Tensors)))
		case 10:
			o.Out = append(slices.Clone(o.Out), r.IntN(len(f.Tensors)))
		case 11:
			o.Code = wire.BuiltinOperator(r.IntN(210))
			if r.IntN(2) == 0 {
				o.Kind = wire.BuiltinOptionsNONE
			}
		case 12:
			fields := tfFields{}
			maps.Copy(fields, o.Fields)
			for _, slot := range slices.Sorted(maps.Keys(fields)) {
				switch fields[slot].(type) {
				case int:
					fields[slot] = number()
				case bool:
					fields[slot] = r.IntN(2) == 0
				case float32:
					fields[slot] = float32(number())
				}
				if r.IntN(2) == 0 {
					break
				}
			}
			o.Fields = fields
		case 13:
			t.Signature = slices.Clone(t.Shape)
			for k := range t.Signature {
				if r.IntN(2) == 0 {
					t.Signature[k] = -1
				}
			}
			if t.Sparsity != nil {
				sparsity := *t.Sparsity
				sparsity.Order = slices.Clone(sparsity.Order)
				sparsity.Order[r.IntN(len(sparsity.Order))] = small(4)
				t.Sparsity = &sparsity
			}
		}
	}
	return f
}
