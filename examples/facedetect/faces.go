package main

import (
	"cmp"
	"math"
	"slices"
)

// What MediaPipe publishes of the model: the side of its input, and for each layer of anchors the stride of its cells and how many
// anchors a cell has.
const inputSize = 128

var layers = []struct{ stride, anchors int }{{8, 2}, {16, 6}}

const (
	leastScore = 0.5
	overlap    = 0.3 // of boxes of one face, as intersection over union
)

// face is a box, in parts of the input's side, and how sure it is.
type face struct{ left, top, right, bottom, score float32 }

// faces gives those the model sees, from 16 coordinates and a score for each anchor. Boxes of one face are averaged by their scores.
func faces(coordinates, scores []float32) []face {
	var found []face
	i := 0
	for _, l := range layers {
		cells := inputSize / l.stride
		for cell := range cells * cells {
			x, y := (float32(cell%cells)+0.5)/float32(cells), (float32(cell/cells)+0.5)/float32(cells)
			for range l.anchors {
				c := coordinates[16*i : 16*i+4] // centre from the anchor, width and height, in pixels
				score := float32(1 / (1 + math.Exp(-float64(max(-100, min(100, scores[i]))))))
				if cx, cy, w, h := x+c[0]/inputSize, y+c[1]/inputSize, c[2]/inputSize, c[3]/inputSize; score >= leastScore {
					found = append(found, face{cx - w/2, cy - h/2, cx + w/2, cy + h/2, score})
				}
				i++
			}
		}
	}
	slices.SortFunc(found, func(a, b face) int { return cmp.Compare(b.score, a.score) })
	var merged []face
	for len(found) > 0 {
		best, sum := found[0], face{}
		var others []face
		for _, f := range found {
			if f != best && f.over(best) <= overlap {
				others = append(others, f)
				continue
			}
			sum = face{sum.left + f.score*f.left, sum.top + f.score*f.top, sum.right + f.score*f.right, sum.bottom + f.score*f.bottom,
				sum.score + f.score}
		}
		merged = append(merged, face{sum.left / sum.score, sum.top / sum.score, sum.right / sum.score, sum.bottom / sum.score, best.score})
		found = others
	}
	return merged
}

// over is the area that two boxes share over the area of both.
func (f face) over(g face) float32 {
	w, h := min(f.right, g.right)-max(f.left, g.left), min(f.bottom, g.bottom)-max(f.top, g.top)
	shared := max(0, w) * max(0, h)
	return shared / ((f.right-f.left)*(f.bottom-f.top) + (g.right-g.left)*(g.bottom-g.top) - shared)
}
