package xnn

import (
	"bufio"
	"fmt"
	"math"
	"math/bits"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// physicalCores counts the cores in this process's affinity mask, hyperthreads of one core once.
func physicalCores() int {
	var mask unix.CPUSet
	if err := unix.SchedGetaffinity(0, &mask); err != nil {
		return logicalCores()
	}
	cores := map[string]bool{}
	for cpu, core := range coreOf() {
		if mask.IsSet(cpu) {
			cores[core] = true
		}
	}
	return len(cores)
}

// coreOf names the core of each logical processor.
var coreOf = sync.OnceValue(func() []string {
	names := make([]string, len(unix.CPUSet{})*bits.UintSize)
	for cpu := range names {
		names[cpu] = strconv.Itoa(cpu) // where the system does not tell: a core of its own
		siblings := fmt.Sprintf("/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu)
		if list := readString(siblings); list != "" {
			names[cpu] = list
		} else if _, err := os.Stat(path.Dir(path.Dir(siblings))); err != nil {
			return names // no more processors
		}
	}
	return names
})

// cpuQuota is the number of CPUs' time that cgroups leave this process, 0 for no limit.
var cpuQuota = sync.OnceValue(func() float64 {
	quota := 0.0
	tighten := func(q, period float64) {
		if q > 0 && period > 0 && (quota == 0 || q/period < quota) {
			quota = q / period
		}
	}
	for _, dir := range cgroupDirs("cpu") {
		if f := strings.Fields(readString(path.Join(dir, "cpu.max"))); len(f) == 2 {
			tighten(parseNumber(f[0]), parseNumber(f[1]))
		}
		tighten(parseNumber(readString(path.Join(dir, "cpu.cfs_quota_us"))), parseNumber(readString(path.Join(dir, "cpu.cfs_period_us"))))
	}
	return quota
})

// defaultMemoryLimit is three quarters of the memory this process may use.
var defaultMemoryLimit = sync.OnceValue(func() int64 {
	limit := float64(math.MaxInt64)
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err == nil {
		limit = float64(info.Totalram) * float64(info.Unit)
	}
	for _, dir := range cgroupDirs("memory") {
		for _, file := range []string{"memory.max", "memory.limit_in_bytes"} {
			if n := parseNumber(readString(path.Join(dir, file))); n > 0 {
				limit = min(limit, n)
			}
		}
	}
	return int64(limit / 4 * 3)
})

// cgroupDirs are the folders in which limits of a controller can stand for this process, its own cgroup first, then those
// around it. Both versions of the file system are looked at.
func cgroupDirs(controller string) []string {
	f, err := os.Open("/proc/self/cgroup")
	if err != nil {
		return nil
	}
	defer f.Close()
	var dirs []string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		parts := strings.SplitN(lines.Text(), ":", 3) // hierarchy, controllers, path
		if len(parts) != 3 {
			continue
		}
		root := "/sys/fs/cgroup"
		if parts[0] != "0" {
			if !strings.Contains(","+parts[1]+",", ","+controller+",") {
				continue
			}
			root = path.Join(root, controller)
		}
		for p := path.Clean("/" + parts[2]); ; p = path.Dir(p) {
			dirs = append(dirs, path.Join(root, p))
			if p == "/" {
				break
			}
		}
	}
	return dirs
}

func readString(file string) string {
	b, _ := os.ReadFile(file) // absent: no limit there
	return strings.TrimSpace(string(b))
}

// parseNumber is 0 for anything but a number, such as "max".
func parseNumber(s string) float64 {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0
	}
	return n
}

// populate finds the pages of the mapping now, all at once.
func (m *mapping) populate() {
	// Where the kernel does not know the wish, each page is found when it is read.
	_ = unix.Madvise(m.bytes, unix.MADV_POPULATE_READ)
}
