package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// svgElements reads a picture, which must be well formed, and gives the elements of a kind and all its text.
func svgElements(t *testing.T, path, kind string) (elements []map[string]string, texts []string) {
	t.Helper()
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	d := xml.NewDecoder(strings.NewReader(string(file)))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return elements, texts
		}
		require.NoError(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			if token.Name.Local == kind {
				attributes := map[string]string{}
				for _, a := range token.Attr {
					attributes[a.Name.Local] = a.Value
				}
				elements = append(elements, attributes)
			}
		case xml.CharData:
			if text := strings.TrimSpace(string(token)); text != "" {
				texts = append(texts, text)
			}
		}
	}
}

// needDot leaves a test out where Graphviz is not installed.
func needDot(t *testing.T) {
	if _, err := exec.LookPath("dot"); err != nil {
		t.Skip("Graphviz is not installed (on Debian: apt-get install graphviz)")
	}
}

func TestInspectSVG(t *testing.T) {
	needDot(t)
	path, svg := model(t, network), filepath.Join(t.TempDir(), "a graph.svg")
	out, _ := tool(t, exitOK, "inspect", path, "--svg", svg)
	require.Empty(t, out)
	groups, texts := svgElements(t, svg, "g")
	count := func(class string) int {
		n := 0
		for _, g := range groups {
			if g["class"] == class {
				n++
			}
		}
		return n
	}
	require.Equal(t, 6+2, count("node"), "six operators, an input and an output")
	require.Equal(t, 7, count("edge"))
	for _, text := range []string{"Conv2D", "FullyConnected", "same padding, stride 2x2, kernel 3x3,", "from 0 to 6", "4×3×3×3", "1×4×4×4", "quint8 1×8×8×3",
		"qcint8(5 scales along 0) 5×4", "qdint8 1×4", "input 0", "output 0"} {
		require.Contains(t, texts, text)
	}
}

// What a file says cannot break the picture, and what the picture needs is told.
func TestInspectSVGFails(t *testing.T) {
	needDot(t)
	g := graph.New()
	x := g.Input(graph.Float32, 2)
	g.Output(g.Clamp(x, -1, 1))
	g.Values[x].Name = "<b>&\"]; \x1b evil -> \x00"
	svg := filepath.Join(t.TempDir(), "x.svg")
	require.NoError(t, drawGraph(t.Context(), svg, g))
	_, texts := svgElements(t, svg, "g")
	require.Contains(t, strings.Join(texts, " "), `<b>&"]; \x1b evil -> \x00`)

	require.Contains(t, fails(t, "inspect", fixture("add"), "--svg", filepath.Join(t.TempDir(), "no", "x.svg")), "no such file")
	t.Setenv("PATH", t.TempDir())
	require.Contains(t, fails(t, "inspect", fixture("add"), "--svg", svg), "apt-get install graphviz")
}

// A value listed twice, one that is input and output, a scalar, an operator with two results.
func TestGraphSource(t *testing.T) {
	g := graph.New()
	x := g.Input(graph.Float32, 4)
	parts := g.EvenSplit(x, 0, 2)
	s := g.Input(graph.Float16)
	for _, id := range []graph.ID{parts[0], parts[1], parts[1], x, g.Add(s, s)} {
		g.Output(id)
	}
	source := graphSource(g)
	for _, edge := range []string{
		"input0 -> node0 [label=< 4 >]", "node0 -> output0 [label=< 2 >]", "node0 -> output1 ", "node0 -> output2 ", "input0 -> output3 ",
		"input1 -> node1 [label=< fp16 scalar >]", "node1 -> output4 ",
	} {
		require.Contains(t, source, edge)
	}
	require.Equal(t, 2, strings.Count(source, "input1 -> node1 "))
}

// Every operator has a color, and one only.
func TestFamilies(t *testing.T) {
	var listed []string
	for _, f := range families {
		listed = append(listed, f.kinds...)
		require.Regexp(t, "^#[0-9a-f]{6}$", f.color)
	}
	slices.Sort(listed)
	require.Equal(t, graph.Operators(), listed)
}

// Each operator's parameters are told by their names.
func TestSettings(t *testing.T) {
	for want, op := range map[string]graph.Op{
		"":                  graph.Softmax{},
		"from 0 to 6":       graph.Unary{Func: graph.Clamp, Range: graph.Range{Min: 0, Max: 6}},
		"from 0":            graph.Binary{Func: graph.Add, Range: graph.Range{Min: 0, Max: float32(inf)}},
		"up to -1.5":        graph.Binary{Func: graph.Add, Range: graph.Range{Min: float32(-inf), Max: -1.5}},
		"alpha 0.1":         graph.Unary{Func: graph.LeakyReLU, Alpha: 0.1},
		"axes 1,2":          graph.Reduce{Func: graph.ReduceMean, Axes: []int{1, 2}},
		"dims 0,3":          graph.Reshape{Dims: []int{0, 3}},
		"perm 1,0":          graph.Transpose{Perm: []int{1, 0}},
		"axis 2":            graph.Concat{Axis: 2},
		"height 4, width 5": graph.ResizeBilinear2D{Height: 4, Width: 5},
		"padding 1,2,3,4, stride 2x1, kernel 3x3": graph.DepthwiseConv2D{Padding: graph.Padding{Top: 1, Right: 2, Bottom: 3, Left: 4},
			Stride: [2]int{2, 1}, Dilation: [2]int{1, 1}, Kernel: [2]int{3, 3}, Channels: 8, Multiplier: 1},
		"flatten": graph.FullyConnected{Transposed: true, Flatten: true},
	} {
		require.Equal(t, want, settingsOf(op).String())
	}
}
