package graph_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/xnn/graph"
)

func TestBroadcast(t *testing.T) {
	for _, c := range []struct{ a, b, want graph.Shape }{
		{graph.Shape{}, graph.Shape{}, graph.Shape{}},
		{graph.Shape{}, graph.Shape{3}, graph.Shape{3}},
		{graph.Shape{3}, graph.Shape{3}, graph.Shape{3}},
		{graph.Shape{1}, graph.Shape{5}, graph.Shape{5}},
		{graph.Shape{4, 1}, graph.Shape{1, 5}, graph.Shape{4, 5}},
		{graph.Shape{2, 3}, graph.Shape{3}, graph.Shape{2, 3}},
		{graph.Shape{2, 3}, graph.Shape{2, 1}, graph.Shape{2, 3}},
		{graph.Shape{2, 1, 2, 1, 2, 1}, graph.Shape{1, 2, 1, 2, 1, 2}, graph.Shape{2, 2, 2, 2, 2, 2}},
		{graph.Shape{0, 2}, graph.Shape{1, 2}, graph.Shape{0, 2}},
		{graph.Shape{0}, graph.Shape{1}, graph.Shape{0}},
		{graph.Shape{0}, graph.Shape{0}, graph.Shape{0}},
		{graph.Shape{2, 3}, graph.Shape{2, 4}, nil},
		{graph.Shape{3}, graph.Shape{4, 2}, nil},
		{graph.Shape{0, 2}, graph.Shape{3, 2}, nil},
		{graph.Shape{0}, graph.Shape{2}, nil},
	} {
		for _, ab := range [][2]graph.Shape{{c.a, c.b}, {c.b, c.a}} {
			got, err := graph.Broadcast(ab[0], ab[1])
			if c.want == nil {
				require.ErrorIs(t, err, schema.ErrShape, "%v %v", ab[0], ab[1])
				continue
			}
			require.NoError(t, err)
			require.Equal(t, c.want, got, "%v %v", ab[0], ab[1])
		}
	}
}

func TestTypeCount(t *testing.T) {
	for _, c := range []struct {
		shape graph.Shape
		want  int
		kind  error
	}{
		{graph.Shape{}, 1, nil},
		{graph.Shape{2, 3}, 6, nil},
		{graph.Shape{0, 7}, 0, nil},
		{graph.Shape{1, 1, 1, 1, 1, 1}, 1, nil},
		{graph.Shape{1, 1, 1, 1, 1, 1, 1}, 0, schema.ErrUnsupported},
		{graph.Shape{-1, 3}, 0, schema.ErrShape},
		{graph.Shape{4294967295}, 0, schema.ErrShape},
		{graph.Shape{4294967296}, 0, schema.ErrShape},
		{graph.Shape{4294967294}, 4294967294, nil},
		{graph.Shape{1 << 31, 1 << 31}, 0, schema.ErrShape},
		{graph.Shape{65536, 65536, 65536, 65536}, 0, schema.ErrShape}, // wraps to 0
		{graph.Shape{0, 65536, 65536, 65536, 65536}, 0, schema.ErrShape},
		{graph.Shape{1 << 30, 1 << 31}, 0, schema.ErrShape}, // 2^63 bytes
		{graph.Shape{1 << 23, 1 << 23}, 1 << 46, nil},       // 2^48 bytes, the most
		{graph.Shape{1 << 23, 1<<23 + 1}, 0, schema.ErrShape},
	} {
		n, err := graph.Type{DType: graph.Float32, Shape: c.shape}.Count()
		if c.kind != nil {
			require.ErrorIs(t, err, c.kind, "%v", c.shape)
			continue
		}
		require.NoError(t, err, "%v", c.shape)
		require.Equal(t, c.want, n, "%v", c.shape)
	}
}
