// Facedetect finds the faces in a photo with MediaPipe's short-range model, and draws a box around each:
//
//	./build.sh models
//	go run ./examples/facedetect [MODEL [PHOTO [OUT]]]
//
// The photo beside this file is NASA's portrait of the astronaut Eileen Collins, in the public domain.
package main

import (
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg"
	"image/png"
	"log"
	"os"
	"path/filepath"

	"golang.org/x/image/draw"

	"github.com/xnngo/xnngo/xnn"
)

func main() {
	log.SetFlags(0)
	cache, err := os.UserCacheDir()
	check(err)
	if dir := os.Getenv("XNNGO_CACHE"); dir != "" {
		cache = filepath.Dir(dir)
	}
	args := append(os.Args[1:], []string{
		filepath.Join(cache, "xnngo", "models", "face_detection_short_range.tflite"),
		filepath.Join("examples", "facedetect", "astronaut.jpg"),
		filepath.Join(os.TempDir(), "faces.png"),
	}[min(3, len(os.Args)-1):]...)
	photo := read(args[1])
	m, err := xnn.Open(args[0])
	check(err)
	defer m.Close()
	s, err := m.NewSession()
	check(err)
	// The longer side fills the input, the rest stays black; levels become numbers from -1 to 1.
	b := photo.Bounds()
	size := max(b.Dx(), b.Dy())
	square := image.NewRGBA(image.Rect(0, 0, inputSize, inputSize))
	at := image.Pt((size-b.Dx())/2, (size-b.Dy())/2) // of the photo in a square of its size
	draw.BiLinear.Scale(square, image.Rect(at.X*inputSize/size, at.Y*inputSize/size, (at.X+b.Dx())*inputSize/size,
		(at.Y+b.Dy())*inputSize/size), photo, b, draw.Src, nil)
	x := xnn.Data[float32](s.Input(0))
	for i := range x {
		x[i] = float32(square.Pix[i/3*4+i%3])/127.5 - 1
	}
	check(s.Run())
	for _, f := range faces(xnn.Data[float32](s.Output(0)), xnn.Data[float32](s.Output(1))) {
		box := image.Rect(int(f.left*float32(size)), int(f.top*float32(size)), int(f.right*float32(size)), int(f.bottom*float32(size)))
		box = box.Sub(at).Add(b.Min)
		frame(photo, box)
		fmt.Printf("a face at %v, score %.3f\n", box, f.score)
	}
	out, err := os.Create(args[2])
	check(err)
	check(png.Encode(out, photo))
	check(out.Close())
	fmt.Println(args[2])
}

// read decodes a photo into pixels that can be drawn on.
func read(path string) *image.RGBA {
	f, err := os.Open(path)
	check(err)
	defer f.Close()
	m, _, err := image.Decode(f)
	check(err)
	photo := image.NewRGBA(m.Bounds())
	draw.Copy(photo, m.Bounds().Min, m, m.Bounds(), draw.Src, nil)
	return photo
}

// frame draws the four sides of a box.
func frame(m *image.RGBA, box image.Rectangle) {
	inner := box.Inset(max(2, box.Dx()/40))
	for _, side := range []image.Rectangle{
		{box.Min, image.Pt(box.Max.X, inner.Min.Y)}, {image.Pt(box.Min.X, inner.Max.Y), box.Max},
		{box.Min, image.Pt(inner.Min.X, box.Max.Y)}, {image.Pt(inner.Max.X, box.Min.Y), box.Max},
	} {
		draw.Draw(m, side, image.NewUniform(color.RGBA{0, 230, 118, 255}), image.Point{}, draw.Src)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
