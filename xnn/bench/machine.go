package main

// #include <unistd.h>
// static long l2(void) { return sysconf(_SC_LEVEL2_CACHE_SIZE); }
// static long l3(void) { return sysconf(_SC_LEVEL3_CACHE_SIZE); }
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// machine is what the numbers depend on.
type machine struct {
	CPU     string `json:"cpu"`
	Arch    string `json:"arch"`
	CPUs    int    `json:"cpus"`
	L2      int    `json:"l2_bytes,omitempty"`
	L3      int    `json:"l3_bytes,omitempty"`
	Go      string `json:"go"`
	Archive string `json:"archive_stamp"`
	Peer    string `json:"onnxruntime,omitempty"` // its version
}

func thisMachine(p *peer) machine {
	m := machine{
		CPU: cpuModel(), Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), L2: max(0, int(C.l2())), L3: max(0, int(C.l3())),
		Go: runtime.Version(), Archive: archiveStamp(),
	}
	if p != nil {
		m.Peer = p.version
	}
	return m
}

// cpuModel is the name Linux shows, with the widest vectors since the name alone may be that of a family.
func cpuModel() string {
	info, _ := os.ReadFile("/proc/cpuinfo") // absent: not known
	field := func(name string) string {
		for line := range strings.Lines(string(info)) {
			if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == name {
				return strings.TrimSpace(v)
			}
		}
		return ""
	}
	name := field("model name")
	if name == "" {
		return runtime.GOARCH
	}
	if family, model := field("cpu family"), field("model"); family != "" {
		name += fmt.Sprintf(" (family %s, model %s)", family, model)
	}
	for _, flag := range [][2]string{{"avx512f", "AVX-512"}, {"avx2", "AVX2"}} {
		if strings.Contains(" "+field("flags")+" ", " "+flag[0]+" ") {
			return name + ", " + flag[1]
		}
	}
	return name
}

func (m machine) String() string {
	s := fmt.Sprintf("%s, %d CPUs", m.CPU, m.CPUs)
	if m.L2 > 0 {
		s += fmt.Sprintf(", L2 %d KB", m.L2>>10)
	}
	return s + ", " + m.Go
}

// resident is the memory of this process that is in RAM.
func resident() int64 {
	statm, _ := os.ReadFile("/proc/self/statm") // size, resident, ... in pages
	fields := strings.Fields(string(statm))
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}
