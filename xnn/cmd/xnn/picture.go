package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // pictures that image.Decode knows
	_ "image/png"
	"io"
	"os"

	"github.com/bep/imagemeta"
	"github.com/spf13/cobra"
	"golang.org/x/image/draw"

	"github.com/xnngo/xnngo/xnn"
)

const (
	// maxPixels bounds what a picture is decoded into, 4 bytes each; its file may say any size.
	maxPixels = 1 << 28
	// maxPicture bounds the file.
	maxPicture = 1 << 30
)

// pictureFlags say how a picture becomes numbers.
type pictureFlags struct{ span, mean, std string }

func (f *pictureFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.span, "range", "",
		"what 0 and 255 of a picture become, and where random values lie (`LOW..HIGH`)")
	cmd.Flags().StringVar(&f.mean, "mean", "", "what is subtracted then, for all channels or for each (`M` or R,G,B)")
	cmd.Flags().StringVar(&f.std, "std", "", "what is divided by then, for all channels or for each (`S` or R,G,B)")
}

// look is how a picture becomes numbers: from 0..255 to a range, less the mean, divided by the deviation.
type look struct {
	span      *span     // nil: 0 to 1, or all that a quantised input can hold
	mean, std []float64 // one, or one for each channel; none for 0 and 1
}

func (f *pictureFlags) parse() (l look, err error) {
	if f.span != "" {
		s, err := parseSpan("--range", f.span)
		if err != nil {
			return l, err
		}
		l.span = &s
	}
	for _, p := range []struct {
		flag, text string
		to         *[]float64
	}{{"--mean", f.mean, &l.mean}, {"--std", f.std, &l.std}} {
		if p.text == "" {
			continue
		}
		if *p.to, err = parseNumbers(p.flag, p.text); err != nil {
			return l, err
		}
		if n := len(*p.to); n != 1 && n != 3 {
			return l, fmt.Errorf("%s %q: 1 or 3 numbers are needed", p.flag, p.text)
		}
	}
	for _, f := range l.std {
		if !(f > 0) {
			return l, fmt.Errorf("--std %g: more than zero is needed", f)
		}
	}
	return l, nil
}

// picture is a decoded picture.
type picture struct {
	look
	image image.Image
	lies  int // how; see orientation
}

// isPicture tells JPEG and PNG files by their first bytes.
func isPicture(start []byte) bool {
	return bytes.HasPrefix(start, []byte("\xff\xd8\xff")) || bytes.HasPrefix(start, []byte("\x89PNG\r\n\x1a\n"))
}

func newPicture(f *os.File, r *bufio.Reader, l look) (*picture, error) {
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(r, maxPicture+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > maxPicture:
		return nil, fmt.Errorf("the picture's file is larger than %d bytes", maxPicture)
	}
	config, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if config.Width*config.Height > maxPixels {
		return nil, fmt.Errorf("the picture is %dx%d, at most %d pixels are read", config.Width, config.Height, maxPixels)
	}
	m, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return &picture{l, m, orientation(data, format)}, nil
}

// orientation is how a picture lies, as its EXIF data says: 1 to 8, 1 where it says nothing that can be read.
func orientation(data []byte, format string) int {
	found := 1
	formats := map[string]imagemeta.ImageFormat{"jpeg": imagemeta.JPEG, "png": imagemeta.PNG}
	// An error is of data that is no use; the picture itself is whole.
	_ = imagemeta.Decode(imagemeta.Options{
		R: bytes.NewReader(data), ImageFormat: formats[format], Sources: imagemeta.EXIF,
		ShouldHandleTag: func(t imagemeta.TagInfo) bool { return t.Tag == "Orientation" },
		HandleTag: func(t imagemeta.TagInfo) error {
			if n, ok := t.Value.(uint16); ok && n >= 1 && n <= 8 && t.Namespace == "IFD0" {
				found = int(n)
			}
			return nil
		},
	})
	return found
}

// resized is the picture with so many pixels, upright. Transparent parts are black.
func (p *picture) resized(width, height int) *image.RGBA64 {
	size := image.Rect(0, 0, width, height)
	if p.lies >= 5 {
		size = image.Rect(0, 0, height, width)
	}
	lying := image.NewRGBA64(size)
	draw.BiLinear.Scale(lying, size, p.image, p.image.Bounds(), draw.Src, nil)
	if p.lies == 1 {
		return lying
	}
	w, h := size.Dx(), size.Dy()
	// Where the pixel comes from that is to stand at (x, y).
	from := map[int]func(x, y int) (int, int){
		2: func(x, y int) (int, int) { return w - 1 - x, y },
		3: func(x, y int) (int, int) { return w - 1 - x, h - 1 - y },
		4: func(x, y int) (int, int) { return x, h - 1 - y },
		5: func(x, y int) (int, int) { return y, x },
		6: func(x, y int) (int, int) { return y, h - 1 - x },
		7: func(x, y int) (int, int) { return w - 1 - y, h - 1 - x },
		8: func(x, y int) (int, int) { return w - 1 - y, x },
	}[p.lies]
	out := image.NewRGBA64(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			out.SetRGBA64(x, y, lying.RGBA64At(from(x, y)))
		}
	}
	return out
}

func (p *picture) close() {}

func (p *picture) shape(input int, t xnn.Type) (xnn.Shape, error) {
	s := t.Shape
	if len(s) != 4 || s[0] != 1 || s[1] < 1 || s[2] < 1 || s[3] != 1 && s[3] != 3 {
		return nil, fmt.Errorf("it is a picture, input %d takes %v, not an image [1, height, width, 1 or 3]", input, t)
	}
	if s[1]*s[2] > maxPixels {
		return nil, fmt.Errorf("it is a picture, input %d takes %v, more than %d pixels", input, t, maxPixels)
	}
	for _, list := range [][]float64{p.mean, p.std} {
		if len(list) > s[3] {
			return nil, errors.New("--mean and --std have 3 numbers, the input has 1 channel")
		}
	}
	return s, nil
}

// read resizes the picture to the input and gives it its numbers.
func (p *picture) read(t *xnn.Tensor) error {
	height, width, channels := t.Shape()[1], t.Shape()[2], t.Shape()[3]
	small, values := p.resized(width, height), numbersOf(t)
	r := p.spanOf(t)
	at := func(list []float64, c int, none float64) float64 {
		if len(list) == 0 {
			return none
		}
		return list[min(c, len(list)-1)]
	}
	for i := range height * width {
		pixel := small.RGBA64At(i%width, i/width)
		levels := [3]float64{float64(pixel.R) / 257, float64(pixel.G) / 257, float64(pixel.B) / 257}
		if channels == 1 {
			levels[0] = 0.299*levels[0] + 0.587*levels[1] + 0.114*levels[2] // luma of BT.601, as in JPEG
		}
		for c, level := range levels[:channels] {
			values.set(i*channels+c, (r.lo+(r.hi-r.lo)*level/255-at(p.mean, c, 0))/at(p.std, c, 1))
		}
	}
	return nil
}

// spanOf is the range that a picture's levels are brought to.
func (p *picture) spanOf(t *xnn.Tensor) span {
	q := t.Quant()
	switch {
	case p.span != nil:
		return *p.span
	case t.DType() == xnn.QUInt8:
		return span{float64(q.Scale) * float64(-q.ZeroPoint), float64(q.Scale) * float64(255-q.ZeroPoint)}
	case t.DType() == xnn.QInt8:
		return span{float64(q.Scale) * float64(-128-q.ZeroPoint), float64(q.Scale) * float64(127-q.ZeroPoint)}
	case t.DType() == xnn.Int32:
		return span{0, 255}
	}
	return span{0, 1}
}
