// Bench measures xnn against a loop in C on the same XNNPACK and against ONNX Runtime called from Go, on the same graphs and
// data in one process, and says which of the project's bounds for speed hold on this machine: those of chains of Adds, with the
// argument ops those of single layers, with models those of real networks. It is a module of its own so that the library
// depends on none of what it is compared with.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"time"
)

func main() {
	if len(os.Args) == 3 && os.Args[1] == constantsChild {
		exitOn(child(os.Args[2]))
		return
	}
	var o options
	flag.StringVar(&o.peer, "onnxruntime", "", "compare with ONNX Runtime, its shared library in `FILE`")
	flag.StringVar(&o.plot, "plot", "", "draw the time a float against the size into `FILE`, an SVG")
	flag.StringVar(&o.json, "json", "", "write the results as JSON into `FILE`")
	flag.BoolVar(&o.quick, "quick", false, "measure little: enough to see that all works, too little to judge")
	flag.BoolVar(&o.check, "check", false, "fail where a bound is missed")
	filter := flag.String("filter", "", "run only the cases whose name matches `REGEXP`")
	flag.Parse()
	if what := flag.Arg(0); what == whatOps || what == whatModels {
		o.what = what
		exitOn(flag.CommandLine.Parse(flag.Args()[1:]))
	}
	if flag.NArg() > 0 {
		exitOn(fmt.Errorf("%q is no option (-help lists them)", flag.Arg(0)))
	}
	if o.what != "" && o.plot != "" {
		exitOn(fmt.Errorf("-plot draws chains of Adds, which %s leaves out", o.what))
	}
	var err error
	o.filter, err = regexp.Compile(*filter)
	exitOn(err)
	exitOn(o.run())
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func child(path string) error {
	l, err := loadConstants(path)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(l)
}

// What is measured instead of chains of Adds.
const (
	whatOps    = "ops"    // single layers
	whatModels = "models" // real networks
)

type options struct {
	peer, plot, json string
	what             string // instead of chains of Adds
	quick, check     bool
	filter           *regexp.Regexp
}

func (o options) run() error {
	var p *peer
	if o.peer != "" {
		var err error
		if p, err = openPeer(o.peer); err != nil {
			return err
		}
		defer p.close()
	}
	r := &report{machine: thisMachine(p), started: time.Now(), bounds: bounds()}
	switch o.what {
	case whatOps:
		r.bounds = opsBounds()
	case whatModels:
		r.bounds = modelsBounds()
	}
	if err := newSuite(o, p).run(r); err != nil {
		return err
	}
	r.seconds = time.Since(r.started).Seconds()
	if err := r.print(os.Stdout); err != nil {
		return err
	}
	if o.json != "" {
		if err := r.writeJSON(o.json); err != nil {
			return err
		}
	}
	if o.plot != "" {
		if err := r.writePlot(o.plot); err != nil {
			return err
		}
	}
	if o.check {
		for _, v := range r.judge() {
			if v.Result == miss {
				return fmt.Errorf("missed: %s %s, measured %s (%s)", v.Claim, v.Limit, v.Measured, v.Case) // the table has the others
			}
		}
	}
	return nil
}
