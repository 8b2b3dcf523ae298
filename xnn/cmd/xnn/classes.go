package main

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/xnngo/xnngo/xnn"
)

// classFlags are what a command is told about an output that holds a score for each class.
type classFlags struct {
	labels  string
	top     int
	softmax bool
}

func (f *classFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.labels, "labels", "", "name the classes with the highest scores, as in the lines of `FILE`")
	cmd.Flags().IntVar(&f.top, "top", 5, "how many of them (`K`)")
	cmd.Flags().BoolVar(&f.softmax, "softmax", false, "make the scores probabilities, of an output without softmax")
}

func (f *classFlags) check(cmd *cobra.Command) error {
	if f.top < 1 {
		return fmt.Errorf("--top %d: at least 1 is needed", f.top)
	}
	for _, flag := range []string{"top", "softmax"} {
		if f.labels == "" && cmd.Flags().Changed(flag) {
			return fmt.Errorf("--%s is about --labels", flag)
		}
	}
	return nil
}

// read gives the labels, nil where there are to be none.
func (f *classFlags) read() ([]string, error) {
	if f.labels == "" {
		return nil, nil
	}
	file, err := os.Open(f.labels)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	labels, lines := []string{}, bufio.NewScanner(file)
	for lines.Scan() {
		labels = append(labels, strings.TrimSpace(lines.Text()))
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", f.labels, err)
	}
	if len(labels) == 0 {
		return nil, fmt.Errorf("%s: it has no lines", f.labels)
	}
	return labels, nil
}

// class is one of the classes with the highest scores.
type class struct {
	Output int    `json:"output"`
	Row    int    `json:"row"`
	Class  int    `json:"class"`
	Label  string `json:"label"`
	Score  single `json:"score"`
}

// best gives the classes with the highest scores in each row of the first output whose rows have one for each label.
func (f *classFlags) best(s *xnn.Session, outputs int, labels []string) ([]class, error) {
	var sizes []string
	for i := range outputs {
		shape := s.Output(i).Shape()
		if len(shape) == 0 || shape[len(shape)-1] != len(labels) {
			sizes = append(sizes, shape.String())
			continue
		}
		classes := []class{}
		values := numbersOf(s.Output(i))
		for row := range values.count / len(labels) {
			scores := make([]float64, len(labels))
			for c := range scores {
				scores[c] = values.at(row*len(labels) + c)
			}
			for _, c := range f.highest(scores) {
				classes = append(classes, class{i, row, c, labels[c], single(scores[c])})
			}
		}
		return classes, nil
	}
	if sizes == nil {
		return nil, errors.New("it has no outputs")
	}
	return nil, fmt.Errorf("%s names %d classes, the outputs are %s", f.labels, len(labels), strings.Join(sizes, ", "))
}

// highest gives the places of the highest scores, which become probabilities where that is asked for. NaN is the lowest.
func (f *classFlags) highest(scores []float64) []int {
	if f.softmax {
		peak, sum := slices.Max(scores), 0.
		for i, s := range scores {
			scores[i] = math.Exp(s - peak)
			sum += scores[i]
		}
		for i := range scores {
			scores[i] /= sum
		}
	}
	places := make([]int, len(scores))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int {
		switch x, y := scores[a], scores[b]; {
		case x > y || y != y && x == x:
			return -1
		case x < y || x != x && y == y:
			return 1
		}
		return 0
	})
	return places[:min(f.top, len(places))]
}

// classTable has a column for rows where there are several.
func classTable(classes []class) *table {
	rows := len(classes) > 0 && classes[len(classes)-1].Row > 0
	header := []string{"class", "score", "label"}
	if rows {
		header = append([]string{"row"}, header...)
	}
	t := newTable(header...)
	for _, c := range classes {
		cells := []any{c.Class, fmt.Sprintf("%.4f", float64(c.Score)), oneLine(c.Label)}
		if rows {
			cells = append([]any{c.Row}, cells...)
		}
		t.row(cells...)
	}
	return t
}
