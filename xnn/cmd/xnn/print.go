package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"
)

// single and double are numbers that JSON can hold whatever they are: NaN and infinities become the strings "NaN", "+Inf" and
// "-Inf". Digits are as many as it takes to tell a number from its neighbours.
type (
	single float32
	double float64
)

func (f single) String() string { return strconv.FormatFloat(float64(f), 'g', -1, 32) }
func (f double) String() string { return strconv.FormatFloat(float64(f), 'g', -1, 64) }

// MarshalJSON implements json.Marshaler.
func (f single) MarshalJSON() ([]byte, error) { return jsonNumber(float64(f), f.String()) }

// MarshalJSON implements json.Marshaler.
func (f double) MarshalJSON() ([]byte, error) { return jsonNumber(float64(f), f.String()) }

func jsonNumber(f float64, text string) ([]byte, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return json.Marshal(text)
	}
	return []byte(text), nil
}

// optional is v for a table, "-" where there is none.
func optional[T any](v *T) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprint(*v)
}

// list is s, for JSON, which knows an empty list and null.
func list[S ~[]E, E any](s S) S {
	if s == nil {
		return S{}
	}
	return s
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// table collects rows and prints them aligned.
type table struct {
	text strings.Builder
	rows int
}

func newTable(header ...string) *table {
	t := &table{}
	t.text.WriteString(strings.Join(header, "\t") + "\n")
	return t
}

func (t *table) row(cells ...any) {
	words := make([]string, len(cells))
	for i, c := range cells {
		words[i] = fmt.Sprint(c)
	}
	t.text.WriteString(strings.Join(words, "\t") + "\n")
	t.rows++
}

func (t *table) print(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if _, err := io.WriteString(tw, t.text.String()); err != nil {
		return err
	}
	return tw.Flush()
}

// helpWidth is how long lines of a command's help are at most.
const helpWidth = 100

// help lays out a command's help: paragraphs, apart by empty lines.
func help(text string) string {
	paragraphs := strings.Split(text, "\n\n")
	for i, p := range paragraphs {
		paragraphs[i] = strings.TrimSuffix(wrapped(strings.Fields(p), "", helpWidth), "\n")
	}
	return strings.Join(paragraphs, "\n\n")
}

// printTables prints tables that have rows, with an empty line between them.
func printTables(w io.Writer, tables ...*table) error {
	first := true
	for _, t := range tables {
		if t.rows == 0 {
			continue
		}
		if !first {
			if _, err := fmt.Fprintln(w); err != nil {
				return err
			}
		}
		first = false
		if err := t.print(w); err != nil {
			return err
		}
	}
	return nil
}

// duration words nanoseconds, which may be parts of one.
func duration(ns float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}} {
		if ns >= u.size {
			return fmt.Sprintf("%.4g %s", ns/u.size, u.name)
		}
	}
	return fmt.Sprintf("%.1f ns", ns)
}

// digits rounds f to so many decimal digits.
func digits(f float64, n int) float64 {
	f, _ = strconv.ParseFloat(strconv.FormatFloat(f, 'g', n, 64), 64)
	return f
}

// byteSize words a number of bytes for people.
func byteSize(n int) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if float64(n) >= u.size {
			return fmt.Sprintf("%.1f %s", float64(n)/u.size, u.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}

// count words a large number for people, in thousands, millions and so on.
func count(n int) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}} {
		if float64(n) >= u.size {
			return fmt.Sprintf("%.2f %s", float64(n)/u.size, u.name)
		}
	}
	return strconv.Itoa(n)
}

// wholeNS is a time for JSON.
func wholeNS(ns float64) int64 { return int64(math.Round(ns)) }
