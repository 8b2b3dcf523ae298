package main

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/xnngo/xnngo/xnn/graph"
)

// settings are the parameters of an operator that say something: those that are not zero, in the order of the operator's fields.
type settings []setting

type setting struct {
	name  string
	value any
}

// settingsOf reads an operator's fields, so that no operator need be known here. What its kind says already is left out.
func settingsOf(op graph.Op) settings {
	var list settings
	v := reflect.ValueOf(op)
	for i := range v.NumField() {
		f, name := v.Field(i), v.Type().Field(i).Name
		switch {
		case !v.Type().Field(i).IsExported() || f.IsZero() || name == "Func":
		case name == "Transposed" && strings.HasSuffix(op.Kind(), "Transposed"):
		case f.Type() == reflect.TypeFor[graph.Range]():
			if r := f.Interface().(graph.Range); r.Limited() {
				lo, hi := r.Bounds()
				list = append(list, setting{"range", []single{single(lo), single(hi)}})
			}
		case f.Type() == reflect.TypeFor[graph.Padding]():
			p := f.Interface().(graph.Padding)
			list = append(list, setting{"padding", []int{p.Top, p.Right, p.Bottom, p.Left}})
		case f.Kind() == reflect.Float32:
			list = append(list, setting{snake(name), single(f.Float())})
		case f.Type() == reflect.TypeFor[[2]int]() && f.Interface() == [2]int{1, 1} && (name == "Stride" || name == "Dilation"):
		case name == "Groups" && f.Int() == 1, name == "Multiplier" && f.Int() == 1:
		default:
			value := f.Interface()
			if s, ok := value.(fmt.Stringer); ok {
				value = s.String()
			}
			list = append(list, setting{snake(name), value})
		}
	}
	return list
}

// snake is a field's name as JSON has it here.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

func (s settings) values() map[string]any {
	if len(s) == 0 {
		return nil
	}
	m := map[string]any{}
	for _, p := range s {
		m[p.name] = p.value
	}
	return m
}

// obvious are settings that a filter's shape tells as well.
var obvious = []string{"group_inputs", "group_outputs", "channels"}

// String words the settings: kernel 3x3, stride 2x2, range 0..6.
func (s settings) String() string {
	var words []string
	for _, p := range s {
		if slices.Contains(obvious, p.name) {
			continue
		}
		name := strings.ReplaceAll(p.name, "_", " ")
		switch v := p.value.(type) {
		case bool:
		case [2]int:
			name += fmt.Sprintf(" %dx%d", v[0], v[1])
		case []int:
			name += " " + strings.Trim(strings.ReplaceAll(fmt.Sprint(v), " ", ","), "[]")
		case []single:
			name = rangeText(v[0], v[1])
		default:
			name += fmt.Sprintf(" %v", v)
		}
		words = append(words, name)
	}
	return strings.Join(words, ", ")
}

// rangeText words limits, of which one may be infinite.
func rangeText(lo, hi single) string {
	switch {
	case math.IsInf(float64(hi), 1):
		return fmt.Sprintf("from %v", lo)
	case math.IsInf(float64(lo), -1):
		return fmt.Sprintf("up to %v", hi)
	}
	return fmt.Sprintf("from %v to %v", lo, hi)
}
