package xnn

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

var benchSizes = []int{16, 4096, 65536, 1 << 20}

// BenchmarkSessionRun is one Add in the session's own memory; the same sum in Go, for the ratio, is BenchmarkGo.
func BenchmarkSessionRun(b *testing.B) {
	for _, n := range benchSizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := opened(b, loaded(b, pair(dims(uint32(n)), dims(uint32(n)), dims(uint32(n))).bytes()))
			b.SetBytes(int64(12 * n))
			b.ReportAllocs()
			for b.Loop() {
				if err := s.Run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkGo is the plain loop.
func BenchmarkGo(b *testing.B) {
	for _, n := range benchSizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			x, y, z := make([]float32, n), make([]float32, n), make([]float32, n)
			b.SetBytes(int64(12 * n))
			for b.Loop() {
				for i := range z {
					z[i] = x[i] + y[i]
				}
			}
		})
	}
}

// BenchmarkModelRunInto copies inputs and outputs, for the caller's own tensors.
func BenchmarkModelRunInto(b *testing.B) {
	for _, n := range benchSizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m := loaded(b, pair(dims(uint32(n)), dims(uint32(n)), dims(uint32(n))).bytes())
			in := []*Tensor{NewTensor(make([]float32, n), n), NewTensor(make([]float32, n), n)}
			out := []*Tensor{NewTensor(make([]float32, n), n)}
			ctx := b.Context()
			b.SetBytes(int64(12 * n))
			b.ReportAllocs()
			for b.Loop() {
				if err := m.RunInto(ctx, out, in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkModelRunParallel is many goroutines on one model.
func BenchmarkModelRunParallel(b *testing.B) {
	m := loaded(b, fiveTimes(4096).bytes())
	ctx := b.Context()
	b.ReportAllocs()
	b.RunParallel(func(p *testing.PB) {
		in, out := []*Tensor{NewTensor(make([]float32, 4096), 4096)}, []*Tensor{NewTensor(make([]float32, 4096), 4096)}
		for p.Next() {
			if err := m.RunInto(ctx, out, in); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// BenchmarkLoad is from bytes to a session and back to nothing.
func BenchmarkLoad(b *testing.B) {
	for name, f := range map[string]file{"one add": double(16), "three adds": threeAdds()} {
		data := f.bytes()
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m, err := Load(data)
				require.NoError(b, err)
				_, err = m.NewSession()
				require.NoError(b, err)
				m.Close()
			}
		})
	}
}

// BenchmarkOpen is from a file of 27.7 MB, of half-precision weights, to a model: without a cache of packed weights, with an
// empty one, and with one that has them.
func BenchmarkOpen(b *testing.B) {
	path, folder := modelPath(b, "pose_landmark_heavy.tflite"), b.TempDir()
	for _, c := range []struct {
		name   string
		folder string
		empty  bool
	}{{"without cache", "", false}, {"cold", folder, true}, {"warm", folder, false}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			if c.folder != "" { // there is a file
				m, err := Open(path, WithWeightsCache(c.folder))
				require.NoError(b, err)
				m.Close()
			}
			for b.Loop() {
				if c.empty {
					b.StopTimer()
					require.NoError(b, os.RemoveAll(folder))
					b.StartTimer()
				}
				m, err := Open(path, WithWeightsCache(c.folder))
				require.NoError(b, err)
				found, err := m.WeightsCache()
				require.NoError(b, err)
				require.Equal(b, c.name == "warm", found)
				m.Close()
			}
		})
	}
}

// BenchmarkReshape changes between two shapes.
func BenchmarkReshape(b *testing.B) {
	s := opened(b, loaded(b, chained(0, 16, 16).bytes()))
	shapes := [][]Shape{{{16, 16}, {16, 16}}, {{8, 16}, {8, 16}}}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if err := s.Reshape(shapes[i%2]...); err != nil {
			b.Fatal(err)
		}
	}
}
