package schema

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzVerify feeds any bytes to the verifier under three schemas and reads all of what it lets pass.
func FuzzVerify(f *testing.F) {
	names, err := filepath.Glob("testdata/*.bin")
	require.NoError(f, err)
	for _, name := range append(names, graphFiles(f)...) {
		f.Add(file(f, name))
	}
	f.Add([]byte{})
	f.Add(handmade())
	list := []subject{
		{"xnngraph", nil, XNNGraph(), func(b []byte) { walkXNNGraph(b); walkDescribed(b, XNNGraph()) }},
	}
	zoo, herd := described(f, "zoo"), described(f, "herd")
	list = append(list,
		subject{"zoo", nil, zoo, func(b []byte) { walkZoo(b); walkDescribed(b, zoo) }},
		subject{"herd", nil, herd, func(b []byte) { walkDescribed(b, herd) }})
	f.Fuzz(func(_ *testing.T, b []byte) {
		for _, s := range list {
			s.try(b)
		}
	})
}

// FuzzParseDescription: a schema that parses describes something the verifier can use without fault.
func FuzzParseDescription(f *testing.F) {
	f.Add(xnngraphSchema)
	f.Add(file(f, "testdata/zoo.bfbs"))
	f.Add(file(f, "testdata/herd.bfbs"))
	files := [][]byte{file(f, "testdata/zoo.bin"), file(f, "testdata/herd.bin"), handmade()}
	f.Fuzz(func(_ *testing.T, bfbs []byte) {
		d, err := ParseDescription(bfbs)
		if err != nil {
			return
		}
		for _, b := range files {
			if Verify(b, d, Limits{}) == nil {
				walkDescribed(b, d)
			}
		}
	})
}
