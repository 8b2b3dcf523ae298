// Facedetect draws a box around each face in a photo: ./build.sh run facedetect [MODEL [PHOTO [OUT]]], after ./build.sh models.
// The photo beside it is NASA's portrait of the astronaut Eileen Collins, in the public domain.
package main

import (
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"log"
	"math"
	"os"
	"slices"

	"github.com/xnngo/xnngo/xnn"
	"golang.org/x/image/draw"
)

func main() {
	user, _ := os.UserCacheDir()
	model := cmp.Or(os.Getenv("XNNGO_CACHE"), user+"/xnngo") + "/models/face_detection_short_range.tflite"
	files := []string{model, "examples/facedetect/astronaut.jpg", os.TempDir() + "/faces.jpg"}
	copy(files, os.Args[1:])
	photo := must(jpeg.Decode(must(os.Open(files[1]))))
	width, height, side := photo.Bounds().Dx(), photo.Bounds().Dy(), max(photo.Bounds().Dx(), photo.Bounds().Dy())
	small := image.NewRGBA(image.Rect(0, 0, 128, 128)) // the photo, and black beside or below it
	draw.BiLinear.Scale(small, image.Rect(0, 0, 128*width/side, 128*height/side), photo, photo.Bounds(), draw.Src, nil)
	s := must(must(xnn.Open(files[0])).NewSession())
	for i, x := 0, xnn.Data[float32](s.Input(0)); i < len(x); i++ {
		x[i] = float32(small.Pix[i/3*4+i%3])/127.5 - 1
	}
	must(0, s.Run())
	canvas := image.NewRGBA(photo.Bounds())
	draw.Copy(canvas, image.Point{}, photo, photo.Bounds(), draw.Src, nil)
	for _, f := range faces(xnn.Data[float32](s.Output(0)), xnn.Data[float32](s.Output(1)), float64(side)) {
		box := image.Rect(int(f[0]), int(f[1]), int(f[2]), int(f[3]))
		fmt.Printf("a face at %v, score %.3f\n", box, f[4])
		draw.Draw(canvas, box, image.NewUniform(color.RGBA{0, 230, 118, 255}), image.Point{}, draw.Src)
		draw.Draw(canvas, box.Inset(3), photo, box.Inset(3).Min, draw.Src)
	}
	fmt.Println("the photo with boxes:", must(files[2], jpeg.Encode(must(os.Create(files[2])), canvas, nil)))
}

// faces gives left, top, right, bottom and score of each face. The model says where a box lies from each of 2 anchors in the
// middle of each of 16x16 cells, then of 6 in each of 8x8, in 128ths of the side. Boxes that overlap are one face, at their mean.
func faces(boxes, scores []float32, side float64) (means [][6]float64) { // the last is a sum of scores
	var found, best [][6]float64
	for i, b := 0, boxes; i < len(scores); i, b = i+1, b[16:] {
		cell, cells := i%512/(2+i/512*4), 16>>(i/512)
		x, y := (float64(cell%cells)+0.5)/float64(cells)+float64(b[0])/128, (float64(cell/cells)+0.5)/float64(cells)+float64(b[1])/128
		w, h, score := float64(b[2])/256, float64(b[3])/256, 1/(1+math.Exp(-float64(max(-100, min(100, scores[i])))))
		if score >= 0.5 {
			found = append(found, [6]float64{side * (x - w), side * (y - h), side * (x + w), side * (y + h), score})
		}
	}
	slices.SortFunc(found, func(f, g [6]float64) int { return cmp.Compare(g[4], f[4]) })
	for _, f := range found {
		i := slices.IndexFunc(best, func(g [6]float64) bool {
			shared := max(0, min(f[2], g[2])-max(f[0], g[0])) * max(0, min(f[3], g[3])-max(f[1], g[1]))
			return shared > 0.3*((f[2]-f[0])*(f[3]-f[1])+(g[2]-g[0])*(g[3]-g[1])-shared)
		})
		if i < 0 {
			i, best, means = len(best), append(best, f), append(means, [6]float64{4: f[4]})
		}
		means[i][5] += f[4]
		for k := range 4 {
			means[i][k] += (f[k] - means[i][k]) * f[4] / means[i][5]
		}
	}
	return means
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatalf("%v (it needs ./build.sh models, and to run at the top of the repository)", err)
	}
	return v
}
