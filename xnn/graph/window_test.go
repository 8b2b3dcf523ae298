package graph

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// eachWindow calls f for all small windows along the height of small images, padding less than the window's extent.
func eachWindow(f func(n int, w window)) {
	for n := 1; n <= 6; n++ {
		for kernel := 1; kernel <= 4; kernel++ {
			for stride := 1; stride <= 4; stride++ {
				for dilation := 1; dilation <= 3; dilation++ {
					w := window{kernel: [2]int{kernel, 1}, stride: [2]int{stride, 1}, dilation: [2]int{dilation, 1}}
					for top := range w.extent(0) {
						for bottom := range w.extent(0) {
							w.padding = Padding{Top: top, Bottom: bottom}
							f(n, w)
						}
					}
					w.padding, w.same = Padding{}, true
					f(n, w)
				}
			}
		}
	}
}

// TestSlide counts the places where a window fits.
func TestSlide(t *testing.T) {
	eachWindow(func(n int, w window) {
		image := Value{Type: Type{Float32, Shape{1, n, 1, 1}, nil}}
		p := w.paddingOf(image.Shape)
		count := 0
		for at := -p.Top; at+w.extent(0) <= n+p.Bottom; at += w.stride[0] {
			count++
		}
		places, err := w.slide(&image)
		if count == 0 {
			require.NotNil(t, err, "%d %+v", n, w)
			return
		}
		require.Nil(t, err)
		require.Equal(t, count, places[0], "%d %+v", n, w)
		if w.same {
			require.Equal(t, (n+w.stride[0]-1)/w.stride[0], count, "%d %+v", n, w)
			require.LessOrEqual(t, p.Top, p.Bottom)
			require.LessOrEqual(t, p.Bottom-p.Top, 1)
		}
	})
}

// TestReaches: exactly where it says so, each element that XNNPACK's max pooling takes in place of one in padding is of the same
// window and of the image.
func TestReaches(t *testing.T) {
	fine, refused := 0, 0
	eachWindow(func(n int, w window) {
		image := Value{Type: Type{Float32, Shape{1, n, 1, 1}, nil}}
		places, err := w.slide(&image)
		if err != nil || w.dilation[0] == 1 {
			return
		}
		top := w.paddingOf(image.Shape).Top
		good := true
		for place := range places[0] {
			// As in xnn_indirection_init_maxpool2d.
			stand := place * w.stride[0]
			if stand < top%w.dilation[0] {
				stand += w.dilation[0]
			}
			stand -= top % w.dilation[0]
			in := false
			for k := range w.kernel[0] {
				in = in || place*w.stride[0]+k*w.dilation[0]-top == stand
			}
			require.True(t, in, "%d %+v", n, w)
			good = good && stand < n
		}
		require.Equal(t, good, w.reaches(image.Shape, places, 0), "%d %+v", n, w)
		if good {
			fine++
		} else {
			refused++
		}
	})
	require.Positive(t, fine)
	require.Positive(t, refused)
}
