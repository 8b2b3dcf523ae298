package xnn

func init() {
	lowerings["Softmax"] = lowering{
		api:    "xnn_define_softmax",
		define: func(d *definition) error { return d.sub.Softmax(d.ins[0], d.outs[0]) },
	}
}
