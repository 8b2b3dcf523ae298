package main

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// picturePNG writes a picture with these rows of pixels.
func picturePNG(t *testing.T, rows ...[]color.RGBA) string {
	t.Helper()
	m := image.NewNRGBA(image.Rect(0, 0, len(rows[0]), len(rows)))
	for y, row := range rows {
		for x, c := range row {
			m.Set(x, y, c)
		}
	}
	path := filepath.Join(t.TempDir(), "a picture.png")
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, m))
	require.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))
	return path
}

var (
	red   = color.RGBA{255, 0, 0, 255}
	green = color.RGBA{0, 255, 0, 255}
	blue  = color.RGBA{0, 0, 255, 255}
	grey  = color.RGBA{51, 102, 153, 255}
)

// images is a model that gives back its images.
func images(t *testing.T, typ graph.Type) string {
	return model(t, func(g *graph.Graph) { g.Output(g.InputOf(typ)) })
}

// pixels runs a model on a picture and gives its numbers.
func pixels(t *testing.T, path, picture string, args ...string) []float32 {
	t.Helper()
	y := filepath.Join(t.TempDir(), "y.npy")
	tool(t, exitOK, append([]string{"run", path, "-i", "0=" + picture, "-o", "0=" + y}, args...)...)
	data, _ := floats(t, y)
	return data
}

func TestRunPicture(t *testing.T) {
	path := images(t, graph.Type{DType: graph.Float32, Shape: graph.Shape{1, 2, 2, 3}})
	p := picturePNG(t, []color.RGBA{red, green}, []color.RGBA{blue, grey})
	whole := []float32{1, 0, 0, 0, 1, 0, 0, 0, 1, 0.2, 0.4, 0.6}
	require.InDeltaSlice(t, whole, pixels(t, path, p), 1e-6)
	require.InDeltaSlice(t, []float32{1, -1, -1, -1, 1, -1, -1, -1, 1, -0.6, -0.2, 0.2}, pixels(t, path, p, "--range", "-1..1"), 1e-6)
	require.InDeltaSlice(t, []float32{1, -1, -2, -1, 1, -2, -1, -1, 0, -0.6, -0.2, -0.8}, pixels(t, path, p, "--mean", "0.5,0.5,1", "--std", "0.5"), 1e-6)
	require.InDeltaSlice(t, []float32{255, 0, 0, 0, 255, 0, 0, 0, 255, 51, 102, 153}, pixels(t, path, p, "--range", "0..255"), 1e-4)

	// One channel is the luma; half the size is the mean of neighbours; transparent is black.
	line := images(t, graph.Type{DType: graph.Float32, Shape: graph.Shape{1, 1, 1, 1}})
	require.InDeltaSlice(t, []float32{0.587}, pixels(t, line, picturePNG(t, []color.RGBA{green, green})), 1e-4)
	require.InDeltaSlice(t, []float32{(0.299 + 0.587) / 2}, pixels(t, line, picturePNG(t, []color.RGBA{red, green})), 1e-4)
	require.InDeltaSlice(t, []float32{0}, pixels(t, line, picturePNG(t, []color.RGBA{{}, {}})), 1e-6)
}

// Levels are spread over all that a quantised input can hold, or rounded from where the flags put them.
func TestRunPictureQuantized(t *testing.T) {
	p := picturePNG(t, []color.RGBA{red, grey})
	for dtype, least := range map[graph.DType]float32{graph.QUInt8: 0, graph.QInt8: -128} {
		zero := least + 128
		path := images(t, graph.Type{DType: dtype, Shape: graph.Shape{1, 1, 2, 3}, Quant: &graph.Quant{Scale: 1. / 128, ZeroPoint: int(zero)}})
		var r runResult
		toolJSON(t, &r, "run", path, "-i", "0="+p)
		require.InDeltaSlice(t, []float32{127. / 128, -1, -1, -77. / 128, -26. / 128, 25. / 128}, singles(r.Outputs[0].First), 1e-6)
		toolJSON(t, &r, "run", path, "-i", "0="+p, "--range", "0..0.5")
		require.InDeltaSlice(t, []float32{0.5, 0, 0, 13. / 128, 26. / 128, 38. / 128}, singles(r.Outputs[0].First), 1e-6)
	}
}

// A picture's EXIF says which of its corners is to stand where: each number of it is seen upright.
func TestRunPictureOrientation(t *testing.T) {
	path := images(t, graph.Type{DType: graph.Float32, Shape: graph.Shape{1, 2, 4, 3}})
	upright := [2][2]color.RGBA{{red, green}, {blue, {255, 255, 255, 255}}} // twice as wide as high
	corner := func(x, y int) color.RGBA { return upright[y/32][x/64] }
	const w, h = 128, 64
	// Where in the upright picture the file's pixel (x, y) is to stand, from the definition: what the 0th row and column show.
	stands := map[int]func(x, y int) (int, int){
		1: func(x, y int) (int, int) { return x, y },                 // row 0 is the top, column 0 the left
		2: func(x, y int) (int, int) { return w - 1 - x, y },         // top, right
		3: func(x, y int) (int, int) { return w - 1 - x, h - 1 - y }, // bottom, right
		4: func(x, y int) (int, int) { return x, h - 1 - y },         // bottom, left
		5: func(x, y int) (int, int) { return y, x },                 // left, top
		6: func(x, y int) (int, int) { return w - 1 - y, x },         // right, top
		7: func(x, y int) (int, int) { return w - 1 - y, h - 1 - x }, // right, bottom
		8: func(x, y int) (int, int) { return y, h - 1 - x },         // left, bottom
	}
	for number, at := range stands {
		size := image.Rect(0, 0, w, h)
		if number >= 5 {
			size = image.Rect(0, 0, h, w)
		}
		m := image.NewRGBA(size)
		for y := range size.Dy() {
			for x := range size.Dx() {
				m.Set(x, y, corner(at(x, y)))
			}
		}
		var b bytes.Buffer
		require.NoError(t, jpeg.Encode(&b, m, &jpeg.Options{Quality: 100}))
		file := filepath.Join(t.TempDir(), "photo.jpg")
		require.NoError(t, os.WriteFile(file, withOrientation(b.Bytes(), number), 0o600))
		got := pixels(t, path, file)
		for y := range 2 {
			for x := range 4 {
				want := corner(32*x+16, 32*y+16) // with a seventh of the corner beside it, since shrinking blurs
				for c, level := range []uint8{want.R, want.G, want.B} {
					require.InDelta(t, float32(level)/255, got[(4*y+x)*3+c], 0.4, "orientation %d, pixel %d,%d", number, x, y)
				}
			}
		}
	}
}

// withOrientation puts an EXIF segment into a JPEG file: a TIFF header and one tag.
func withOrientation(file []byte, number int) []byte {
	tiff := []byte("II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00")
	tiff = binary.LittleEndian.AppendUint16(tiff, uint16(number))
	tiff = append(tiff, 0, 0, 0, 0, 0, 0)
	segment := append([]byte("Exif\x00\x00"), tiff...)
	out := append([]byte{}, file[:2]...)
	out = append(out, 0xff, 0xe1)
	out = binary.BigEndian.AppendUint16(out, uint16(len(segment)+2))
	return append(append(out, segment...), file[2:]...)
}

func TestRunBadPictures(t *testing.T) {
	p := picturePNG(t, []color.RGBA{red})
	whole, err := os.ReadFile(p)
	require.NoError(t, err)
	write := func(name string, data []byte) string {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, data, 0o600))
		return path
	}
	huge := bytes.Clone(whole)
	copy(huge[16:], []byte{0, 1, 0, 0, 0, 1, 0, 0}) // 65536 x 65536, and a wrong checksum
	path := images(t, graph.Type{DType: graph.Float32, Shape: graph.Shape{1, 2, 2, 3}})
	for _, file := range []string{write("cut.png", whole[:30]), write("huge.png", huge), write("cut.jpg", []byte("\xff\xd8\xff\xe0"))} {
		require.Contains(t, fails(t, "run", path, "-i", "0="+file), file)
	}
	for _, shape := range []graph.Shape{{2, 2, 3}, {2, 2, 2, 3}, {1, 2, 2, 2}, {1, 0, 2, 3}, {}} {
		line := fails(t, "run", images(t, graph.Type{DType: graph.Float32, Shape: shape}), "-i", "0="+p)
		require.Contains(t, line, "it is a picture, input 0 takes fp32"+shape.String())
	}
	line := fails(t, "run", images(t, graph.Type{DType: graph.Float32, Shape: graph.Shape{1, 2, 2, 1}}), "-i", "0="+p, "--mean", "1,2,3")
	require.Contains(t, line, "1 channel")
}
