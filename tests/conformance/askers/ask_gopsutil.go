// ask_gopsutil.go - answers the questions of peers/asker.py with gopsutil.
//
// A pid's Process is made at the first question and kept, as a program would
// that watches it. CPU is Percent(0), the change since the last call.
package main

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/shirou/gopsutil/process"
)

var held = map[int32]*process.Process{}

var fields = map[string]func(p *process.Process) (string, error){
	"name": func(p *process.Process) (string, error) { return p.Name() },
	"ppid": func(p *process.Process) (string, error) {
		n, err := p.Ppid()
		return fmt.Sprint(n), err
	},
	"state": func(p *process.Process) (string, error) {
		words, err := p.Status()
		if err != nil || len(words) == 0 {
			return "", err
		}
		letters := map[string]string{"running": "R", "sleep": "S",
			"zombie": "Z", "stop": "T", "idle": "I", "blocked": "D"}
		if letter, ok := letters[words[0]]; ok {
			return letter, nil
		}
		return words[0], nil
	},
	"threads": func(p *process.Process) (string, error) {
		n, err := p.NumThreads()
		return fmt.Sprint(n), err
	},
	"rss": func(p *process.Process) (string, error) {
		memory, err := p.MemoryInfo()
		if err != nil {
			return "", err
		}
		return fmt.Sprint(memory.RSS), nil
	},
	"cpu": func(p *process.Process) (string, error) {
		percent, err := p.Percent(0)
		return fmt.Sprint(percent), err
	},
	"switches": func(p *process.Process) (string, error) {
		count, err := p.NumCtxSwitches()
		if err != nil {
			return "", err
		}
		return fmt.Sprint(count.Voluntary), nil
	},
	"cmdline": func(p *process.Process) (string, error) {
		words, err := p.CmdlineSlice()
		return strings.Join(words, " "), err
	},
	"exe": func(p *process.Process) (string, error) { return p.Exe() },
	"pss": func(p *process.Process) (string, error) {
		maps, err := p.MemoryMaps(true)
		if err != nil {
			return "", err
		}
		return fmt.Sprint((*maps)[0].Pss * 1024), nil
	},
	"read_bytes": func(p *process.Process) (string, error) {
		io, err := p.IOCounters()
		if err != nil {
			return "", err
		}
		return fmt.Sprint(io.ReadBytes), nil
	},
	// What gopsutil itself compares: pid and creation time.
	"identity": func(p *process.Process) (string, error) {
		when, err := p.CreateTime()
		return fmt.Sprint(p.Pid, " ", when), err
	},
	"running": func(p *process.Process) (string, error) {
		running, err := p.IsRunning()
		if running {
			return "1", err
		}
		return "0", err
	},
	"kill": func(p *process.Process) (string, error) {
		return "sent", p.SendSignal(syscall.SIGKILL)
	},
}

func list() (string, error) {
	all, err := process.Processes()
	text := ""
	for _, p := range all {
		text += fmt.Sprint(p.Pid, " ")
	}
	return text, err
}

func ask(field string, pid int32) (string, error) {
	if field == "list" {
		return list()
	}
	p := held[pid]
	if p == nil {
		var err error
		if p, err = process.NewProcess(pid); err != nil {
			return "", err
		}
		held[pid] = p
	}
	return fields[field](p)
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var field string
		var pid int32
		fmt.Sscan(lines.Text(), &field, &pid)
		if _, ok := fields[field]; !ok && field != "list" {
			fmt.Println("unasked")
			continue
		}
		text, err := ask(field, pid)
		word := "said"
		if err != nil {
			word, text = "absent", err.Error()
			if errors.Is(err, fs.ErrPermission) {
				word = "refused"
			}
		}
		fmt.Println(word, hex.EncodeToString([]byte(text)))
	}
}
