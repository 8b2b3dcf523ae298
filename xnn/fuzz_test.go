package xnn

import "testing"

// FuzzLoad loads whatever comes and runs it where it loads: no panic, no signal, no memory over the limit, none kept.
func FuzzLoad(f *testing.F) {
	for _, data := range seeds(f) {
		f.Add(data)
	}
	for _, c := range tfCases() {
		f.Add(c.file.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := attempt(data); err != nil {
			t.Fatal(err)
		}
		if stats := MemStats(); stats != (MemoryStats{}) {
			t.Fatalf("held: %+v", stats)
		}
	})
}
