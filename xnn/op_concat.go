package xnn

import (
	"slices"

	"github.com/xnngo/xnngo/xnn/graph"
)

// mostConcatenated is how many values XNNPACK puts one behind the other in one node.
const mostConcatenated = 5

func init() {
	lowerings["Concat"] = lowering{
		api: "xnn_define_concatenate2 xnn_define_concatenate3 xnn_define_concatenate4 xnn_define_concatenate5",
		define: func(d *definition) error {
			parts, err := d.concatenated()
			if err != nil {
				return err
			}
			axis := d.op.(graph.Concat).Axis
			// Neighbours are put together until few enough are left.
			for len(parts) > mostConcatenated {
				var groups []part
				for group := range slices.Chunk(parts, mostConcatenated) {
					joined := group[0]
					if len(group) > 1 {
						if joined, err = d.join(axis, group); err != nil {
							return err
						}
					}
					groups = append(groups, joined)
				}
				parts = groups
			}
			return d.sub.Concatenate(axis, idsOf(parts), d.outs[0])
		},
	}
}

// part is a value to be put in front of another.
type part struct {
	id    uint32
	shape graph.Shape
}

func idsOf(parts []part) []uint32 {
	ids := make([]uint32, len(parts))
	for i := range parts {
		ids[i] = parts[i].id
	}
	return ids
}

// concatenated are the operands of a Concat, in the result's scale.
func (d *definition) concatenated() ([]part, error) {
	parts := make([]part, len(d.in))
	for i := range d.in {
		parts[i] = part{d.ins[i], d.in[i].Shape}
		if d.in[i].Quant.Equal(d.out[0].Quant) {
			continue
		}
		t := graph.Type{DType: d.out[0].DType, Shape: d.in[i].Shape, Quant: d.out[0].Quant}
		id, err := d.internal(t)
		if err != nil {
			return nil, err
		}
		if err := d.convert(d.in[i].Type, t, d.ins[i], id); err != nil {
			return nil, err
		}
		parts[i].id = id
	}
	return parts, nil
}

// join puts neighbouring parts together.
func (d *definition) join(axis int, parts []part) (part, error) {
	joined := part{shape: slices.Clone(parts[0].shape)}
	for _, p := range parts[1:] {
		joined.shape[axis] += p.shape[axis]
	}
	var err error
	joined.id, err = d.internal(graph.Type{DType: d.out[0].DType, Shape: joined.shape, Quant: d.out[0].Quant})
	if err != nil {
		return part{}, err
	}
	return joined, d.sub.Concatenate(axis, idsOf(parts), joined.id)
}
